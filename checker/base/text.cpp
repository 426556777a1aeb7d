// SPDX-License-Identifier: MIT
#include "checker/base/text.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>

namespace checker {
namespace {

// 8.1e-03 -> 8.1e-3
std::string short_exponent(std::string text) {
    const std::size_t e = text.find('e');
    if (e == std::string::npos) {
        return text;
    }
    std::string exponent = text.substr(e + 1);
    const bool negative = exponent.starts_with('-');
    exponent.erase(0, exponent.find_first_not_of("+-0"));
    return text.substr(0, e) + (negative ? "e-" : "e") + exponent;
}

}  // namespace

std::string demangled(const std::string& symbol) {
    struct Free {
        void operator()(char* text) const { std::free(text); }
    };
    int status = 0;
    const std::unique_ptr<char, Free> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status));
    return status == 0 && text ? text.get() : symbol;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    if (text.empty()) {
        return parts;
    }
    for (std::size_t end = text.find(separator); end != text.npos; end = text.find(separator)) {
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    parts.push_back(text);
    return parts;
}

std::string format_count(long n) {
    const std::string digits = std::to_string(std::labs(n));
    std::string result = n < 0 ? "-" : "";
    for (std::size_t i = 0; i < digits.size(); i++) {
        if (i > 0 && (digits.size() - i) % 3 == 0) {
            result += ',';
        }
        result += digits[i];
    }
    return result;
}

std::string format_count(long n, std::string_view singular) {
    return fmt::format("{} {}{}", format_count(n), singular, n == 1 ? "" : "s");
}

std::string significant(double x) {
    if (!std::isfinite(x)) {
        return fmt::format("{}", x);
    }
    const double size = std::abs(x);
    if (size >= 999.5 && size < 1e6) {
        const double unit = std::pow(10.0, std::floor(std::log10(size)) - 2.0);
        return format_count(std::lround(std::round(x / unit) * unit));
    }
    return short_exponent(fmt::format("{:.3g}", x));
}

std::string three_digits(double x) {
    if (!(std::abs(x) < 999.5) || x == 0.0) {
        return significant(x);
    }
    const int before_point = static_cast<int>(std::floor(std::log10(std::abs(x) * 1.000501))) + 1;
    return fmt::format("{:.{}f}", x, std::clamp(3 - before_point, 0, 6));
}

std::string gib(std::size_t bytes) {
    return significant(static_cast<double>(bytes) / static_cast<double>(std::size_t{1} << 30)) + " GiB";
}

std::string milliseconds(double seconds) {
    if (seconds < 1e-4) {
        return three_digits(seconds * 1e6) + " us";
    }
    return seconds < 0.9995 ? three_digits(seconds * 1e3) + " ms" : three_digits(seconds) + " s";
}

std::string percent(double share) {
    if (share > 0.0 && share < 0.005) {
        return "under 1%";
    }
    return fmt::format("{:.0f}%", share * 100.0);
}

std::string times(double factor) {
    if (!(factor < 1e6)) {
        return "more than a million times";
    }
    return three_digits(factor) + " times";
}

std::pair<std::string, std::string> format_distinct(float got, float expected) {
    constexpr int kDigits = 5;
    constexpr int kMostDigits = 9;  // enough for any two different floats
    const auto text = [](float x, int digits) -> std::string {
        if (std::isnan(x)) {
            return "nan";
        }
        return x == 0.0F ? "0" : short_exponent(fmt::format("{:#.{}g}", x, digits));
    };
    std::pair<std::string, std::string> result{text(got, kDigits), text(expected, kDigits)};
    for (int digits = kDigits + 1; got != expected && digits <= kMostDigits && result.first == result.second;
         digits++) {
        result = {text(got, digits), text(expected, digits)};
    }
    return result;
}

namespace {

// Levenshtein's distance, of the beginnings of long names.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    constexpr std::size_t kMost = 256;
    a = a.substr(0, kMost);
    b = b.substr(0, kMost);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0U);
    for (std::size_t i = 0; i < a.size(); i++) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); j++) {
            const std::size_t replaced = diagonal + (a[i] != b[j] ? 1 : 0);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view name, std::vector<std::string> known, std::size_t most) {
    std::vector<std::pair<std::size_t, std::string>> near;
    for (std::string& one : known) { near.emplace_back(edit_distance(name, one), std::move(one)); }
    std::ranges::sort(near);
    near.resize(std::min(most, near.size()));
    std::vector<std::string> names;
    for (auto& [distance, one] : near) { names.push_back(std::move(one)); }
    return names;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
    const std::vector<std::string> near = nearest_names(name, known, 1);
    if (!near.empty() && 2 * edit_distance(name, near.front()) <= std::max(name.size(), near.front().size())) {
        return fmt::format("; did you mean {}?", near.front());
    }
    return known.empty() ? "; there is none" : fmt::format("; there is {}", fmt::join(known, ", "));
}

}  // namespace checker
