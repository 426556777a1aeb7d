// SPDX-License-Identifier: MIT
//
// What ops give and the error that the plainest right float32 algorithm is expected to make, in float64: what
// reference/ops has in Python, for inputs that are drawn. reference/BUDGET.md gives the reasons; a test holds both equal
// on every case file.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "checker/cases/lesson.h"
#include "lessons/gpt2/check/op_spec.h"

namespace cases {

inline constexpr double kRounding = 0x1p-24;  // U of reference/ops/common/rounding.py: half an ulp
inline constexpr double kSum = 0.3;           // its SUM

// The deviation of a sequential float32 sum of so many terms, from the sum of their squares and their sum.
double sum_error(double squares, double total, double terms);

// Softmax of a row, its log-sum-exp and their errors, where those of the exponents are `of_exponents`.
struct SoftmaxRow {
    std::vector<double> probs;
    double lse = 0;
    double of_probs = 0;  // the largest
    double of_lse = 0;
};
SoftmaxRow softmax_row(std::span<const double> exponents, std::span<const double> of_exponents);
// Returns softmax_row() of row n of an op's first input, logits (N, Vp), of the V columns that count.
SoftmaxRow row_of_logits(const Values& inputs, std::size_t n, const Sizes& sizes);
// Those of exponents that are exact but for one rounding, and for that of their difference from the maximum.
std::vector<double> of_exponents(std::span<const double> exponents);

// mean, rstd, out of rows of C elements, as reference/ops/layernorm.py has them. `of_inp`: the relative error of each element,
// where they are no stored floats (residual_layernorm.py).
std::vector<checker::Computed> layernorm_of(std::span<const double> inp, std::size_t C, std::span<const float> weight,
                                            std::span<const float> bias, double of_inp);

// An output of one element for each of `count`, each a row of its own where `row` is 1: value and floor of element i.
checker::Computed elementwise(std::size_t count, std::size_t row,
                              const std::function<std::pair<double, double>(std::size_t i)>& element);

// An element of a matmul and its floor: floors of reference/ops/matmul.py. `squares` is the sum of the products' squares,
// `terms` how many numbers are added up.
std::pair<double, double> of_product(double product, double squares, double bias, int terms);

// The same of inputs inp (N, C), weight (OC, C) and, where there is one, bias (OC), all added up here.
std::pair<double, double> product_element(const Sizes& sizes, long element, const Values& inputs);

// GELU of x, and its error where x is wrong by `floor`: floors of reference/ops/linear_gelu.py.
std::pair<double, double> gelu_of(double x, double floor);

// inp weight^T + bias in float64, of inputs inp (N, C), weight (OC, C) and, where there is one, bias (OC): each element,
// and its floor.
class Product {
  public:
    Product(const Sizes& sizes, const Values& inputs);

    // What an op gives for element x of the matmul, with the floor of x: value and floor. (N, OC), a row for each n.
    using Then = std::function<std::pair<double, double>(double x, double floor)>;
    checker::Computed then(const Then& op) const;
    // The matmul itself.
    checker::Computed out() const {
        return then([](double x, double floor) { return std::pair(x, floor); });
    }

  private:
    std::size_t OC_;
    std::vector<double> values_, floor_;  // (N, OC)
};

}  // namespace cases
