// Random numbers from counters: Philox 4x32-10. The same seed gives the same numbers in every mode, whatever the threads.
//
// Layout. A seed (i64[2]) is first mixed: Philox with the key 0x02461e293ec8f720 on the counter (seed[0], seed[1]) gives
// four 32-bit words, w0..w3. The stream's key is w1:w0; its counter's high half is w3:w2, its low half the block number.
// Each block gives four words. f32 element i takes word i mod 4 of block i / 4, f64 element i words 2 (i mod 2) (high)
// and 2 (i mod 2) + 1 (low) of block i / 2.
#ifndef KILN_RANDOM_TD
#define KILN_RANDOM_TD
include "dialects/kiln/ops/base.td"

def Kiln_PhiloxOp : Kiln_Elementwise<"philox"> {
  let summary = "Random bits: element i is half (first + i) mod 2 of the Philox 4x32-10 block with this key and the counter (low + (first + i) / 2, high).";
  let arguments = (ins Kiln_Tensor:$key, Kiln_Tensor:$low, Kiln_Tensor:$high, Kiln_Dims:$shape, Default<Kiln_Int, "0">:$first);
  let dtypes = ["i64"];
  let constraints = ["C1: key, low and high broadcast to shape."];
  let shape_rule = [{ return broadcast_all_to(operands, shape, DType::i64); }];
  let body = [{
    const S at = index + constant(index, first);
    const auto words = philox_block(key, low + shift_right_arithmetic(at, constant(at, 1)), high);
    const S odd = (at & constant(at, 1)) != constant(at, 0);
    const S lower = select(odd, words[2], words[0]), upper = select(odd, words[3], words[1]);
    return join_words(lower, upper);
  }];
  let non_differentiable = "random bits";
  let example = "Tensor bits = philox(key, 0, 0, {1000});";
}

def Kiln_RandomUniformOp : Kiln_Elementwise<"random_uniform"> {
  let summary = "Uniform numbers in [0, 1) from the Philox stream with this key and high half of the counter (see stateless_random_uniform).";
  let arguments = (ins Kiln_Tensor:$key, Kiln_Tensor:$high, Kiln_Dims:$shape, Default<Kiln_DType, "DType::f32">:$dtype);
  let options = "RandomOptions";
  let operand_dtypes = ["i64", "i64"];
  let dtypes = floats;
  let constraints = ["C1: key and high broadcast to shape."];
  let shape_rule = [{ return random_type(operands, shape, dtype); }];
  let body = [{ return philox_uniform(key, high, index, result); }];
  let non_differentiable = "does not depend on its operands smoothly";
  let example = "Tensor u = random_uniform(key, high, {1000});";
}

def Kiln_RandomNormalOp : Kiln_Elementwise<"random_normal"> {
  let summary = "Normal numbers, mean 0 and deviation 1 (Box-Muller), from the Philox stream with this key and high half of the counter.";
  let arguments = (ins Kiln_Tensor:$key, Kiln_Tensor:$high, Kiln_Dims:$shape, Default<Kiln_DType, "DType::f32">:$dtype);
  let options = "RandomOptions";
  let operand_dtypes = ["i64", "i64"];
  let dtypes = floats;
  let constraints = ["C1: key and high broadcast to shape."];
  let shape_rule = [{ return random_type(operands, shape, dtype); }];
  let body = [{ return philox_normal(key, high, index, result); }];
  let non_differentiable = "does not depend on its operands smoothly";
  let example = "Tensor z = random_normal(key, high, {1000});";
}

def Kiln_StatelessRandomUniformOp : Kiln_Composite<"stateless_random_uniform"> {
  let summary = "Uniform numbers in [minval, maxval); the seed (i64[2]) alone decides which.";
  let arguments = (ins Kiln_Tensor:$seed, Kiln_Dims:$shape, Default<Kiln_Float, "0">:$minval, Default<Kiln_Float, "1">:$maxval, Default<Kiln_DType, "DType::f32">:$dtype);
  let options = "UniformOptions";
  let operand_dtypes = ["i64"];
  let dtypes = floats;
  let constraints = ["C1: seed is i64[2].", "C2: minval < maxval."];
  let composite = [{
    if (!(minval < maxval)) fail(Code::invalid_argument, "minval must be below maxval");
    const auto [key, high] = mixed_seed(seed);
    const Tensor u = random_uniform(key, high, shape, {dtype});
    return minval == 0 && maxval == 1 ? u : u * (maxval - minval) + minval;
  }];
  let example = "Tensor u = stateless_random_uniform(Tensor{int64_t{1}, int64_t{2}}, {3, 4});";
}

def Kiln_StatelessRandomNormalOp : Kiln_Composite<"stateless_random_normal"> {
  let summary = "Normal numbers of this mean and deviation; the seed (i64[2]) alone decides which.";
  let arguments = (ins Kiln_Tensor:$seed, Kiln_Dims:$shape, Default<Kiln_Float, "0">:$mean, Default<Kiln_Float, "1">:$stddev, Default<Kiln_DType, "DType::f32">:$dtype);
  let options = "NormalOptions";
  let operand_dtypes = ["i64"];
  let dtypes = floats;
  let constraints = ["C1: seed is i64[2]."];
  let composite = [{
    const auto [key, high] = mixed_seed(seed);
    const Tensor z = random_normal(key, high, shape, {dtype});
    return mean == 0 && stddev == 1 ? z : z * stddev + mean;
  }];
  let example = "Tensor z = stateless_random_normal(Tensor{int64_t{1}, int64_t{2}}, {3, 4});";
}

#endif
