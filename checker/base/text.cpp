// SPDX-License-Identifier: MIT
#include "checker/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

std::string counted(long n) {
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

std::string counted(long n, std::string_view singular) {
    return fmt::format("{} {}{}", counted(n), singular, n == 1 ? "" : "s");
}

std::string significant(double x) {
    if (!std::isfinite(x)) {
        return fmt::format("{}", x);
    }
    const double size = std::abs(x);
    if (size >= 999.5 && size < 1e6) {
        const double unit = std::pow(10.0, std::floor(std::log10(size)) - 2.0);
        return counted(std::lround(std::round(x / unit) * unit));
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

std::pair<std::string, std::string> told_apart(float got, float expected) {
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

std::string lesson_number(const std::string& lesson) {
    return lesson.substr(0, lesson.find('_'));
}

std::string lesson_title(const std::string& lesson) {
    const std::size_t bar = lesson.find('_');
    return bar == std::string::npos ? lesson : lesson.substr(bar + 1);
}

}  // namespace checker
