// How the sanitizers behave in Kiln's programs; linked in sanitized builds only.
// LLVM's objects are not instrumented but its headers are: marks in arenas that both use would not match.
extern "C" {
__attribute__((visibility("default"), used)) const char* __asan_default_options() {
  // A failed allocation is an error that Kiln reports; a small quarantine lets tests see that memory stays flat.
  return "allow_user_poisoning=0:detect_stack_use_after_return=1:allocator_may_return_null=1:quarantine_size_mb=1";
}
__attribute__((visibility("default"), used)) const char* __ubsan_default_options() { return "print_stacktrace=1"; }
__attribute__((visibility("default"), used)) const char* __tsan_default_options() {
  return "ignore_noninstrumented_modules=1";
}
}
