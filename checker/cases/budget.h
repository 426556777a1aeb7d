// SPDX-License-Identifier: MIT
//
// How wrong a result may be: the C++ twin of reference/dump/budget.py; reference/BUDGET.md gives the reasons.
//
//   error(i)  = |got[i] - expected[i]|
//   budget(i) = max(k * max(ratio, 1) * floor[row of i], one ulp of expected[i] in the output's own type)
//
// k is one constant a precision, ratio PyTorch's own error in that precision in units of the floor, and floor an
// analytic bound on what rounding costs in that row, stored with each case.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checker/cases/element.h"

namespace checker {

double error(float got, float expected);

// factor = k * max(ratio, 1)
double budget(double factor, float floor, float expected, Element element = Element::f32);

// In which an op may compute.
inline constexpr std::array<std::string_view, 3> kPrecisions{"fp32", "tf32", "bf16"};

// The number that a product of matrices takes for this factor in a precision: TF32 keeps ten bits of the fraction, bf16
// seven. Of two that are equally near, the larger.
float as_factor(float value, std::string_view precision);

// `precision` is one of kPrecisions; `local` judges one op from the stored inputs, `chained` a tensor of the whole model.
class Budgets {
  public:
    // Throws FileError when a file is missing, is malformed or lacks what it must have.
    static Budgets read(const std::filesystem::path& budgets_json);

    // k * max(ratio, 1) for "layernorm.out" (local) or "h.0.fc" (chained); throws FileError naming what is missing.
    // A case file of one lesson may have a larger ratio of its own, which moves no other case's.
    double local(std::string_view output, std::string_view precision, std::string_view case_file = "") const;
    double chained(std::string_view tensor, std::string_view precision) const;

  private:
    using Ratios = std::map<std::string, std::map<std::string, double, std::less<>>, std::less<>>;
    double factor(const std::vector<const Ratios*>& all, std::string_view scope, std::string_view name,
                  std::string_view precision) const;

    std::string file_;
    std::map<std::string, double, std::less<>> k_;
    Ratios local_;
    Ratios chained_;
    std::map<std::string, Ratios, std::less<>> own_;  // by case file
};

}  // namespace checker
