// SPDX-License-Identifier: MIT
#include "checker/cases/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <exception>
#include <optional>

#include "checker/base/file_error.h"
#include "checker/base/files.h"
#include "checker/base/json.h"

namespace checker {
namespace {

void read_to(double& to, const Json& from) {
    to = from.number();
}

template <class T>
void read_to(std::map<std::string, T, std::less<>>& to, const Json& from) {
    for (const auto& [name, value] : from.members()) { read_to(to[name], value); }
}

}  // namespace

double error(float got, float expected) {
    return std::abs(static_cast<double>(got) - static_cast<double>(expected));
}

double budget(double factor, float floor, float expected, Element element) {
    return std::max(factor * static_cast<double>(floor), ulp(expected, element));
}

float as_factor(float value, std::string_view precision) {
    const unsigned dropped = precision == "tf32" ? 13 : precision == "bf16" ? 16 : 0;
    if (dropped == 0 || !std::isfinite(value)) {
        return value;
    }
    const std::uint32_t half = 1U << (dropped - 1);
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + half) & ~(2 * half - 1));
}

Budgets Budgets::read(const std::filesystem::path& path) {
    Budgets budgets;
    budgets.file_ = path.string();
    const std::optional<std::string> text = read_file_if_there(path);
    if (!text) {
        throw FileError(
            fmt::format("{} is missing; 'git checkout reference/cases' brings it back, 'make reference' "
                        "makes it anew",
                        budgets.file_));
    }
    try {
        const Json file = Json::parse(*text);
        read_to(budgets.k_, file.at("k"));
        read_to(budgets.local_, file.at("local"));
        read_to(budgets.chained_, file.at("chained"));
        read_to(budgets.own_, file.at("own"));
    } catch (const std::exception& e) {
        throw FileError(fmt::format("{} is not what 'make reference' writes: {}", budgets.file_, e.what()));
    }
    return budgets;
}

double Budgets::local(std::string_view output, std::string_view precision, std::string_view case_file) const {
    std::vector<const Ratios*> all{&local_};
    if (const auto own = own_.find(case_file); own != own_.end()) {
        all.push_back(&own->second);
    }
    return factor(all, "local", output, precision);
}

double Budgets::chained(std::string_view tensor, std::string_view precision) const {
    return factor({&chained_}, "chained", tensor, precision);
}

double Budgets::factor(const std::vector<const Ratios*>& all, std::string_view scope, std::string_view name,
                       std::string_view precision) const {
    const auto k = k_.find(precision);
    std::optional<double> ratio;
    for (const Ratios* ratios : all) {
        if (const auto row = ratios->find(name); row != ratios->end() && row->second.contains(precision)) {
            ratio = std::max(row->second.find(precision)->second, ratio.value_or(1.0));
        }
    }
    if (k == k_.end() || !ratio) {
        throw FileError(
            fmt::format("{} has no {} ratio for {} in {}; 'make reference' writes it", file_, scope, name, precision));
    }
    const double result = k->second * *ratio;
    if (!(result > 0.0) || !std::isfinite(result)) {
        throw FileError(fmt::format("{}: the {} ratio for {} in {} gives the budget factor {}", file_, scope, name,
                                    precision, result));
    }
    return result;
}

}  // namespace checker
