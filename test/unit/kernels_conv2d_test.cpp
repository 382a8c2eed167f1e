#include <cmath>

#include "test/unit/kernels_testing.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

struct Conv {
  int64_t n, h, w, c, kh, kw, f, oh, ow, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, groups;
};

template <class T>
T at(const std::vector<T>& t, int64_t n, int64_t h, int64_t w, int64_t c, int64_t hs, int64_t ws, int64_t cs) {
  return h < 0 || h >= hs || w < 0 || w >= ws ? T(0) : t[((n * hs + h) * ws + w) * cs + c];
}

template <class T>
std::vector<T> naive_forward(const Conv& p, const std::vector<T>& x, const std::vector<T>& filter) {
  std::vector<T> y;
  const int64_t cg = p.c / p.groups, fg = p.f / p.groups;
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t oh = 0; oh < p.oh; ++oh)
      for (int64_t ow = 0; ow < p.ow; ++ow)
        for (int64_t f = 0; f < p.f; ++f) {
          T sum = 0;
          for (int64_t a = 0; a < p.kh; ++a)
            for (int64_t b = 0; b < p.kw; ++b)
              for (int64_t c = 0; c < cg; ++c)
                sum = std::fma(at(x, n, oh * p.stride_h + a * p.dilation_h - p.pad_top,
                                  ow * p.stride_w + b * p.dilation_w - p.pad_left, f / fg * cg + c, p.h, p.w, p.c),
                               filter[((a * p.kw + b) * cg + c) * p.f + f], sum);
          y.push_back(sum);
        }
  return y;
}

template <class T>
std::vector<T> naive_backward_input(const Conv& p, const std::vector<T>& dy, const std::vector<T>& filter) {
  std::vector<T> dx;
  const int64_t cg = p.c / p.groups, fg = p.f / p.groups;
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t h = 0; h < p.h; ++h)
      for (int64_t w = 0; w < p.w; ++w)
        for (int64_t c = 0; c < p.c; ++c) {
          T sum = 0;
          for (int64_t a = p.kh - 1; a >= 0; --a)
            for (int64_t b = p.kw - 1; b >= 0; --b) {
              const int64_t r = h + p.pad_top - a * p.dilation_h, q = w + p.pad_left - b * p.dilation_w;
              if (r % p.stride_h || q % p.stride_w) continue;
              for (int64_t f = 0; f < fg; ++f)
                sum = std::fma(at(dy, n, r / p.stride_h, q / p.stride_w, c / cg * fg + f, p.oh, p.ow, p.f),
                               filter[((a * p.kw + b) * cg + c % cg) * p.f + c / cg * fg + f], sum);
            }
          dx.push_back(sum);
        }
  return dx;
}

template <class T>
std::vector<T> naive_backward_filter(const Conv& p, const std::vector<T>& x, const std::vector<T>& dy) {
  std::vector<T> df;
  const int64_t cg = p.c / p.groups, fg = p.f / p.groups;
  for (int64_t a = 0; a < p.kh; ++a)
    for (int64_t b = 0; b < p.kw; ++b)
      for (int64_t c = 0; c < cg; ++c)
        for (int64_t f = 0; f < p.f; ++f) {
          T sum = 0;
          for (int64_t n = 0; n < p.n; ++n)
            for (int64_t oh = 0; oh < p.oh; ++oh)
              for (int64_t ow = 0; ow < p.ow; ++ow)
                sum = std::fma(at(x, n, oh * p.stride_h + a * p.dilation_h - p.pad_top,
                                  ow * p.stride_w + b * p.dilation_w - p.pad_left, f / fg * cg + c, p.h, p.w, p.c),
                               dy[((n * p.oh + oh) * p.ow + ow) * p.f + f], sum);
          df.push_back(sum);
        }
  return df;
}

template <class T>
void check(const std::string& dtype, const Conv& p) {
  std::mt19937 random(static_cast<unsigned>(p.n + p.h * 3 + p.w * 5 + p.c * 7 + p.f * 11 + p.kh * 13 + p.stride_h));
  std::vector<int64_t> params(16);
  std::memcpy(params.data(), &p, sizeof p);
  auto x = random_values<T>(p.n * p.h * p.w * p.c, random);
  auto filter = random_values<T>(p.kh * p.kw * (p.c / p.groups) * p.f, random);
  auto dy = random_values<T>(p.n * p.oh * p.ow * p.f, random);
  const auto y = naive_forward(p, x, filter), dx = naive_backward_input(p, dy, filter),
             df = naive_backward_filter(p, x, dy);
  INFO(dtype << " n " << p.n << " hwc " << p.h << " " << p.w << " " << p.c << " k " << p.kh << " " << p.kw << " f "
             << p.f << " out " << p.oh << " " << p.ow << " stride " << p.stride_h << " " << p.stride_w << " dilation "
             << p.dilation_h << " " << p.dilation_w << " pad " << p.pad_top << " " << p.pad_left << " groups "
             << p.groups);
  for (bool wide : instruction_sets()) {
    std::vector<T> got(y.size(), T(9));
    REQUIRE(run_kernel("conv2d." + dtype, wide, {x.data(), filter.data(), got.data()}, params, random) == 0);
    REQUIRE(first_difference(got, y) == -1);
    got.assign(dx.size(), T(9));
    REQUIRE(run_kernel("conv2d_backward_input." + dtype, wide, {filter.data(), dy.data(), got.data()}, params,
                       random) == 0);
    REQUIRE(first_difference(got, dx) == -1);
    got.assign(df.size(), T(9));
    REQUIRE(run_kernel("conv2d_backward_filter." + dtype, wide, {x.data(), dy.data(), got.data()}, params, random) ==
            0);
    REQUIRE(first_difference(got, df) == -1);
  }
}

// The result size for these pads, and the case itself.
Conv conv(int64_t n, int64_t h, int64_t w, int64_t c, int64_t kh, int64_t kw, int64_t f, int64_t stride_h = 1,
          int64_t stride_w = 1, int64_t dilation_h = 1, int64_t dilation_w = 1, int64_t top = 0, int64_t left = 0,
          int64_t bottom = 0, int64_t right = 0, int64_t groups = 1) {
  auto size = [](int64_t in, int64_t k, int64_t stride, int64_t dilation) {
    const int64_t room = in - (k - 1) * dilation - 1;
    return room < 0 ? 0 : room / stride + 1;
  };
  return {n,
          h,
          w,
          c,
          kh,
          kw,
          f,
          size(h + top + bottom, kh, stride_h, dilation_h),
          size(w + left + right, kw, stride_w, dilation_w),
          stride_h,
          stride_w,
          dilation_h,
          dilation_w,
          top,
          left,
          groups};
}

}  // namespace

TEST_CASE("conv2d and its gradients equal one chain per element") {
  check<float>("f32", conv(2, 9, 11, 3, 3, 3, 5));
  check<float>("f32", conv(2, 9, 30, 3, 3, 3, 40, 1, 1, 1, 1, 1, 1, 1, 1));
  check<double>("f64", conv(1, 9, 30, 5, 3, 3, 20, 1, 1, 1, 1, 1, 1, 1, 1));
  check<float>("f32", conv(3, 28, 28, 1, 5, 5, 32, 1, 1, 1, 1, 2, 2, 2, 2));
  check<float>("f32", conv(2, 14, 14, 32, 5, 5, 64, 1, 1, 1, 1, 2, 2, 2, 2));
  check<float>("f32", conv(2, 7, 6, 4, 1, 1, 33));
  check<float>("f32", conv(1, 5, 5, 300, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1));   // more input channels than a block of k
  check<float>("f32", conv(1, 12, 12, 1, 9, 10, 3, 1, 1, 1, 2, 4, 4, 4, 4));  // more segments than one call takes
}

TEST_CASE("conv2d with strides, dilations and uneven padding") {
  for (int64_t sh : {1, 2, 3})
    for (int64_t sw : {1, 2})
      for (int64_t dh : {1, 2})
        for (int64_t dw : {1, 3})
          for (int64_t k : {1, 2, 3}) {
            check<float>("f32", conv(2, 11, 13, 3, k, 3, 4, sh, sw, dh, dw, 0, 1, 1, 2));
            check<double>("f64", conv(1, 8, 9, 2, 3, k, 17, sh, sw, dh, dw, 3, 0, 0, 4));
          }
  check<float>("f32", conv(2, 9, 9, 2, 2, 2, 3, 4, 4));  // the stride leaves out input elements
  check<float>("f32", conv(1, 10, 10, 2, 3, 3, 3, 4, 4, 2, 2, 1, 1, 1, 1));
}

TEST_CASE("conv2d with groups") {
  check<float>("f32", conv(2, 7, 8, 6, 3, 3, 9, 1, 1, 1, 1, 1, 1, 1, 1, 3));
  check<float>("f32", conv(2, 7, 8, 4, 3, 2, 8, 2, 1, 1, 2, 1, 1, 1, 1, 4));  // two results per channel
  check<double>("f64", conv(1, 7, 8, 6, 3, 3, 4, 2, 2, 1, 1, 1, 1, 0, 0, 2));
  for (int64_t c : {2, 8, 16, 19, 70, 130}) {  // depthwise
    check<float>("f32", conv(2, 7, 9, c, 3, 3, c, 1, 1, 1, 1, 1, 1, 1, 1, c));
    check<float>("f32", conv(1, 8, 9, c, 3, 2, c, 2, 2, 1, 1, 1, 0, 0, 1, c));
    check<double>("f64", conv(1, 8, 9, c, 2, 3, c, 1, 2, 2, 1, 1, 0, 0, 1, c));
  }
}

TEST_CASE("conv2d of empty tensors") {
  check<float>("f32", conv(0, 5, 5, 2, 3, 3, 4));
  check<float>("f32", conv(2, 5, 5, 0, 3, 3, 4));
  check<float>("f32", conv(2, 5, 5, 2, 3, 3, 0));
  check<float>("f32", conv(2, 2, 5, 2, 3, 3, 4));  // no result rows
  check<float>("f32", conv(2, 5, 2, 2, 3, 3, 4));
  check<float>("f32", conv(2, 0, 5, 2, 1, 3, 4, 1, 1, 1, 1, 1, 1, 1, 1));  // padding only
  check<float>("f32", conv(1, 3, 3, 2, 5, 5, 3, 1, 1, 1, 1, 9, 9, 9, 9));  // windows of padding only
}

TEST_CASE("padding counts as zeros in conv2d: an infinite filter element gives NaN at the border") {
  std::vector<float> x(9, 1.0f), filter(9, 1.0f), got(9);
  filter[0] = INFINITY;
  std::mt19937 random(1);
  for (bool wide : instruction_sets()) {
    REQUIRE(run_kernel("conv2d.f32", wide, {x.data(), filter.data(), got.data()},
                       {1, 3, 3, 1, 3, 3, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1}, random) == 0);
    CHECK(std::isnan(got[0]));
    CHECK(std::isnan(got[5 - 2]));
    CHECK(got[4] == INFINITY);
  }
}
