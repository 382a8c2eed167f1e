// Coefficients of the math functions, lowest power first. Made by fit.py; do not edit.
#pragma once

namespace kiln::strict {

// clang-format off
// exp(r) on |r| <= ln(2)/2. Error of the fit: 2^-28.2.
inline constexpr double exp_f32[] = {0x1.0000000000000p+0, 0x1.0000000000000p+0, 0x1.fffffc0000000p-2, 0x1.55548a0000000p-3, 0x1.55584c0000000p-5, 0x1.123f660000000p-7, 0x1.6ad99c0000000p-10};

// 2^r on |r| <= 1/2. Error of the fit: 2^-27.5.
inline constexpr double exp2_f32[] = {0x1.0000000000000p+0, 0x1.62e4320000000p-1, 0x1.ebfbe60000000p-3, 0x1.c6ada80000000p-5, 0x1.3b21c40000000p-7, 0x1.5fbcfe0000000p-10, 0x1.4be3760000000p-13};

// ln(2) in two parts; the first times an exponent is exact.
inline constexpr double ln2_f32[] = {0x1.62e4000000000p-1, 0x1.7f7d1c0000000p-20};

// log2(e) in two parts.
inline constexpr double log2e_f32[] = {0x1.7154760000000p+0, 0x1.4ae0c00000000p-26};

// log10(e) in two parts.
inline constexpr double log10e_f32[] = {0x1.bcb7b00000000p-2, 0x1.526e500000000p-26};

// log10(2) in two parts; the first times an exponent is exact.
inline constexpr double log10_2_f32[] = {0x1.3441000000000p-2, 0x1.a84fbc0000000p-21};

// exp(r) on |r| <= ln(2)/2. Error of the fit: 2^-57.84.
inline constexpr double exp_f64[] = {0x1.0000000000000p+0, 0x1.0000000000000p+0, 0x1.000000000000ap-1, 0x1.55555555554fdp-3, 0x1.55555555506a3p-5, 0x1.1111111127a0ep-7, 0x1.6c16c18485b07p-10, 0x1.a01a01280e415p-13, 0x1.a019991c50622p-16, 0x1.71df2f79c524ap-19, 0x1.28ae525a85fc0p-22, 0x1.ad691088e1c55p-26};

// 2^r on |r| <= 1/2. Error of the fit: 2^-59.7.
inline constexpr double exp2_f64[] = {0x1.0000000000000p+0, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58ep-3, 0x1.c6b08d704a1c3p-5, 0x1.3b2ab6fba5269p-7, 0x1.5d87fe7879889p-10, 0x1.430912f6df4b2p-13, 0x1.ffcbfd2af1134p-17, 0x1.62c029bcb9d0dp-20, 0x1.b523765c2fb1fp-24, 0x1.e4b07710fd092p-28, 0x1.ec0784bcf3996p-32, 0x1.f164f2cf46ee6p-36};

// ln(2) in two parts; the first times an exponent is exact.
inline constexpr double ln2_f64[] = {0x1.62e42fefa3800p-1, 0x1.ef35793c76730p-45};

// log2(e) in two parts.
inline constexpr double log2e_f64[] = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};

// log10(e) in two parts.
inline constexpr double log10e_f64[] = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};

// log10(2) in two parts; the first times an exponent is exact.
inline constexpr double log10_2_f64[] = {0x1.34413509f7800p-2, 0x1.fef311f12b358p-46};

// (log(1+f) - f + f^2/2) / f^3 on sqrt(1/2) <= 1+f <= sqrt(2). Error of the fit: 2^-27.34.
inline constexpr double log_f32[] = {0x1.5555540000000p-2, -0x1.0002280000000p-2, 0x1.99a0380000000p-3, -0x1.5472140000000p-3, 0x1.22d5680000000p-3, -0x1.0d82760000000p-3, 0x1.057e040000000p-3, -0x1.391f4a0000000p-4};

// (log((1+s)/(1-s)) - 2s) / s^3 over z = s^2, |s| <= 3 - 2 sqrt(2). Error of the fit: 2^-59.45.
inline constexpr double log_f64[] = {0x1.5555555555593p-1, 0x1.999999997f9d2p-2, 0x1.249249422e0c9p-2, 0x1.c71c51d36f27fp-3, 0x1.74664ac27475cp-3, 0x1.39a0789f603bap-3, 0x1.2f128e5e976f8p-3};

// (log((1+s)/(1-s)) - 2s) / s^3 over z = s^2, |s| <= 3 - 2 sqrt(2). Error of the fit: 2^-44.94.
inline constexpr double log_short_f64[] = {0x1.555555561e824p-1, 0x1.999996a84183ep-2, 0x1.24941280dd1e9p-2, 0x1.c62ad991d9e8fp-3, 0x1.91197748cc6b8p-3};

// (atanh(s)/s - 1 - z/3) / z^2 over z = s^2 on the same. Error of the fit: 2^-73.46.
inline constexpr double log_tail_f64[] = {0x1.9999999999996p-3, 0x1.2492492492f56p-3, 0x1.c71c71c59598bp-4, 0x1.745d1829eb5acp-4, 0x1.3b13649be1e70p-4, 0x1.112076a3fb49ep-4, 0x1.de3c2dca4ad61p-5, 0x1.ead0c2b7f2546p-5};

// 1/3 in two parts.
inline constexpr double third_f64[] = {0x1.5555555555555p-2, 0x1.5555555555555p-56};

// The cube root on sqrt(1/2) <= m <= sqrt(2), a first guess. Error of the fit: 2^-13.73.
inline constexpr double cbrt_f64[] = {0x1.f85262acc1ed2p-2, 0x1.7abb9a2ad9d04p-1, -0x1.295071dcb59cdp-2, 0x1.dcc9ac29dfcddp-5};

// The cube roots of 1/2 and 2.
inline constexpr double cbrt2_f64[] = {0x1.965fea53d6e3dp-1, 0x1.428a2f98d728bp+0};

// (sin(r) - r) / r^3 over z = r^2, |r| <= 0.787. Error of the fit: 2^-37.47.
inline constexpr double sin_short_f64[] = {-0x1.5555554c4c845p-3, 0x1.1111084f3364fp-7, -0x1.a00f693642624p-13, 0x1.6cccb2fc8ced7p-19};

// (cos(r) - 1 + r^2/2) / r^4 over z = r^2, |r| <= 0.787. Error of the fit: 2^-42.9.
inline constexpr double cos_short_f64[] = {0x1.5555554ebdd48p-5, -0x1.6c16b80c8eadep-10, 0x1.a010cb7a2bd43p-16, -0x1.241aa2e9d6ea9p-22};

// (sin(r) - r) / r^3 over z = r^2, |r| <= 0.88. Error of the fit: 2^-62.9.
inline constexpr double sin_f64[] = {-0x1.5555555555555p-3, 0x1.1111111111085p-7, -0x1.a01a01a006a27p-13, 0x1.71de3a414c072p-19, -0x1.ae6440855988ep-26, 0x1.6117919bf13e9p-33, -0x1.a71e5f2f181d8p-41};

// (cos(r) - 1 + r^2/2) / r^4 over z = r^2, |r| <= 0.88. Error of the fit: 2^-68.37.
inline constexpr double cos_f64[] = {0x1.5555555555555p-5, -0x1.6c16c16c16b59p-10, 0x1.a01a01a0060bbp-16, -0x1.27e4fb66b2f07p-22, 0x1.1eed7f78d5eb7p-29, -0x1.9387ad2283f93p-37, 0x1.a6b58355c61afp-45};

// pi/2 in three parts.
inline constexpr double half_pi_f64[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c06p-54, 0x1.c1cd129024e09p-107};

// 2/pi.
inline constexpr double two_over_pi_f64[] = {0x1.45f306dc9c883p-1};

// 2/pi for f32 arguments from 2^0, 2^48, 2^75 and 2^102 on: 29 bits, 29 bits, the rest. Bits that give multiples of 4 are left out.
inline constexpr double two_over_pi_windows[4][3] = {
    {0x1.45f306d000000p-1, 0x1.9391054000000p-30, 0x1.4fe13abe8fa9ap-59},
    {0x1.6e4e441000000p-24, 0x1.4a7f09c000000p-54, 0x1.5f47d4d377037p-82},
    {0x1.529fc26000000p-52, 0x1.57d1f53000000p-80, 0x1.377036d8a5664p-110},
    {0x1.d5f47d4000000p-78, 0x1.a6ee06d000000p-107, 0x1.6295990000000p-136},
};

// (atan(t) - t) / t^3 over z = t^2, |t| <= tan(pi/8). Error of the fit: 2^-59.35.
inline constexpr double atan_f64[] = {-0x1.555555555553cp-2, 0x1.999999999564ep-3, -0x1.24924922a069dp-3, 0x1.c71c70e10885dp-4, -0x1.745cf84bdfc65p-4, 0x1.3b110f0b1f5a1p-4, -0x1.10eb458678ddbp-4, 0x1.df08c12def39cp-5, -0x1.9cb537a11194fp-5, 0x1.378a8a2db8bdep-5, -0x1.24c5b8e477f9cp-6};

// (asin(s) - s) / s^3 over z = s^2, |s| <= 1/2. Error of the fit: 2^-59.85.
inline constexpr double asin_f64[] = {0x1.5555555555577p-3, 0x1.333333332e10ap-4, 0x1.6db6db7215591p-5, 0x1.f1c71a938afa7p-6, 0x1.6e8bdf0e848cbp-6, 0x1.1c49ecbc04926p-6, 0x1.ca1fec2c8c86ep-7, 0x1.75824b81901a7p-7, 0x1.614fcadd375a0p-7, 0x1.e4c4345b14ef9p-9, 0x1.63fd5f2f62dfap-6, -0x1.588bfeb6be696p-6, 0x1.0b74df22da0eap-5};

// erf(x)/x - 1 over z = x^2, |x| <= 1. Error of the fit: 2^-29.38.
inline constexpr double erf_f32[] = {0x1.06eba80000000p-3, -0x1.81273e0000000p-2, 0x1.ce2ce60000000p-4, -0x1.b7f71a0000000p-6, 0x1.53f2240000000p-8, -0x1.a3515c0000000p-11, 0x1.4771ea0000000p-14};

// erf(x)/x - 1 over z = x^2, |x| <= 1. Error of the fit: 2^-56.0.
inline constexpr double erf_f64[] = {0x1.06eba8214db68p-3, -0x1.812746b03799dp-2, 0x1.ce2f21a03f8b7p-4, -0x1.b82ce311a9690p-6, 0x1.565bcceed5ca5p-8, -0x1.c02daeb60fe87p-11, 0x1.f9a29696559d3p-14, -0x1.f4c82cb9d8da0p-17, 0x1.b96b3bd0cc753p-20, -0x1.5b8ba1ec96754p-23, 0x1.d3d738c4281abp-27, -0x1.a227ce84f38d6p-31};

// erfc(2.46 + u)^(1/4) on 1 <= 2.46 + u <= 3.92; error of its fourth power, absolute. Error of the fit: 2^-26.82.
inline constexpr double erfc_root_f32[] = {0x1.32c2980000000p-3, -0x1.94b7700000000p-3, 0x1.8548600000000p-4, -0x1.6ed2ee0000000p-7, -0x1.c763a80000000p-8, 0x1.689f680000000p-9, 0x1.1541d20000000p-14, -0x1.11468e0000000p-12, -0x1.767bce0000000p-16};

// (1+2a) e^(a^2) erfc(a) on 0.6 <= a <= 10.2 over t = (a-2.0)/(a+2.0) (Shepherd and Laframboise 1981). Error of the fit: 2^-26.63.
inline constexpr double erfc_f32[] = {0x1.46e80e0000000p+0, -0x1.7bf5ca0000000p-4, -0x1.54074e0000000p-3, 0x1.4ff7900000000p-3, -0x1.bc456a0000000p-5, -0x1.056d660000000p-7, 0x1.1f5e680000000p-7, 0x1.0952380000000p-10, -0x1.7b65f20000000p-10};

// (1+2a) e^(a^2) erfc(a) on 0.6 <= a <= 27.3 over t = (a-5.0)/(a+5.0) (Shepherd and Laframboise 1981). Error of the fit: 2^-54.32.
inline constexpr double erfc_f64[] = {0x1.37be87d05ea02p+0, -0x1.0f63900b09e5ep-3, 0x1.7641ea21e9bf0p-5, 0x1.7f5c30682eb64p-6, -0x1.0e862f726a3a1p-4, 0x1.4f70fd17aee1dp-4, -0x1.3bdbcb6dbde21p-4, 0x1.f2113a6a4f1c7p-5, -0x1.5332810d72c15p-5, 0x1.9271f7a8ad998p-6, -0x1.9e0adb4e58235p-7, 0x1.6af70c4357db2p-8, -0x1.04b02c31eb3fep-9, 0x1.1684fd32f962ap-11, -0x1.2993f007276adp-14, -0x1.3b0709610cddep-16, 0x1.e59d0e0aea483p-17, -0x1.d3e3631cc3fcep-19, -0x1.a5269f6c0504ap-22, 0x1.196c2c6431067p-21, -0x1.08c7a16ba6014p-24, -0x1.6f5964250478fp-25};

// clang-format on

}  // namespace kiln::strict
