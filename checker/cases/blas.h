// SPDX-License-Identifier: MIT
//
// The system's BLAS, on one core: the library that lesson 03 is measured against, and in float64 the reference at shapes
// that have no committed tensor. Programs that use it link blas.cpp and OpenBLAS, or no_blas.cpp, where only the
// second works.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "checker/cases/check.h"

namespace checker {

// out[n, o] = sum over c of inp[n, c] * weight[o, c], plus bias[o] unless bias is null. out (N, out_stride), of which OC
// columns are written; inp (N, C); weight (OC, C); bias (OC).
void blas_matmul(float* out, const float* inp, const float* weight, const float* bias, int N, int C, int OC,
                 int out_stride);

// inp (N, C) times the transpose of weight (OC, C).
std::vector<double> float64_product(const std::vector<double>& inp, const std::vector<double>& weight, int N, int C,
                                    int OC);

// out = inp weight^T + bias in float64 from the float32 inputs, rounded to float32 (N, OC), and each row's floor: floor_matmul of
// reference/ops/matmul.py. `factor` is that of the op's budget. bias may be empty.
Computed computed_matmul(std::span<const float> inp, std::span<const float> weight, std::span<const float> bias, int N,
                         int C, int OC, double factor);

// One element of it with a bias, in float64, and its floor: inp (C), weight (C).
std::pair<double, double> computed_element(std::span<const float> inp, std::span<const float> weight, float bias);

}  // namespace checker
