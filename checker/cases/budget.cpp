// SPDX-License-Identifier: MIT
#include "checker/cases/budget.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "checker/base/file_error.h"

namespace checker {

double ulp32(float value) {
    constexpr int kMantissaBits = 23;
    constexpr int kSmallestExponent = -126;  // below it float32 is denormal and evenly spaced
    const int exponent = value == 0.0F ? kSmallestExponent : std::max(std::ilogb(value), kSmallestExponent);
    return std::ldexp(1.0, exponent - kMantissaBits);
}

double error(float got, float expected) {
    return std::abs(static_cast<double>(got) - static_cast<double>(expected));
}

double budget(double factor, float floor, float expected) {
    return std::max(factor * static_cast<double>(floor), ulp32(expected));
}

Budgets Budgets::read(const std::filesystem::path& budget_toml, const std::filesystem::path& budgets_json) {
    Budgets budgets;
    budgets.file_ = budgets_json.string();
    try {
        const toml::table file = toml::parse_file(budget_toml.string());
        const toml::table* k = file["k"].as_table();
        if (k == nullptr) {
            throw FileError(fmt::format("{} has no table [k]", budget_toml.string()));
        }
        for (const auto& [precision, value] : *k) {
            budgets.k_[std::string(precision.str())] = value.value<double>().value_or(NAN);
        }
    } catch (const toml::parse_error& e) {
        throw FileError(fmt::format("cannot read {}: {}; 'git checkout reference' brings it back", budget_toml.string(),
                                    e.description()));
    }
    std::ifstream in(budgets_json);
    if (!in) {
        throw FileError(
            fmt::format("{} is missing; 'git checkout reference/cases' brings it back, 'make reference' "
                        "makes it anew",
                        budgets_json.string()));
    }
    try {
        const nlohmann::json file = nlohmann::json::parse(in);
        file.at("local").get_to(budgets.local_);
        file.at("chained").get_to(budgets.chained_);
    } catch (const nlohmann::json::exception& e) {
        throw FileError(fmt::format("{} is not what 'make reference' writes: {}", budgets_json.string(), e.what()));
    }
    return budgets;
}

double Budgets::local(std::string_view output, std::string_view precision) const {
    return factor(local_, "local", output, precision);
}

double Budgets::chained(std::string_view tensor, std::string_view precision) const {
    return factor(chained_, "chained", tensor, precision);
}

double Budgets::factor(const Ratios& ratios, std::string_view scope, std::string_view name,
                       std::string_view precision) const {
    const auto k = k_.find(precision);
    const auto row = ratios.find(name);
    if (k == k_.end() || row == ratios.end() || !row->second.contains(precision)) {
        throw FileError(
            fmt::format("{} has no {} ratio for {} in {}; 'make reference' writes it", file_, scope, name, precision));
    }
    const double result = k->second * std::max(row->second.find(precision)->second, 1.0);
    if (!(result > 0.0) || !std::isfinite(result)) {
        throw FileError(fmt::format("{}: the {} ratio for {} in {} gives the budget factor {}", file_, scope, name,
                                    precision, result));
    }
    return result;
}

}  // namespace checker
