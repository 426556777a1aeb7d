// SPDX-License-Identifier: MIT
//
// The system's BLAS, on one core: the library that lesson 03 is measured against, and in float64 the reference at shapes
// that have no committed tensor. Programs that use it link blas.cpp and OpenBLAS, or no_blas.cpp, where only the
// second works.
#pragma once

#include <vector>

namespace checker {

// out[n, o] = sum over c of inp[n, c] * weight[o, c], plus bias[o] unless bias is null. out (N, out_stride), of which OC
// columns are written; inp (N, C); weight (OC, C); bias (OC).
void blas_matmul(float* out, const float* inp, const float* weight, const float* bias, int N, int C, int OC,
                 int out_stride);

// inp (N, C) times the transpose of weight (OC, C).
std::vector<double> float64_product(const std::vector<double>& inp, const std::vector<double>& weight, int N, int C,
                                    int OC);

}  // namespace checker
