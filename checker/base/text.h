// SPDX-License-Identifier: MIT
//
// Numbers and words as the terminal shows them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace checker {

std::string format_count(long n);                             // 1,024
std::string format_count(long n, std::string_view singular);  // "1 element", "1,024 elements"
std::string significant(double x);                            // three significant digits: 0.312, 806, 8.1e-03 as 8.1e-3
std::string gib(std::size_t bytes);                           // "1.50 GiB"
std::string milliseconds(double seconds);                     // "4.10 ms"; microseconds below a tenth of one
std::string percent(double share);                            // "62%"
std::string times(double factor);                             // "1.30 times", "806 times", "more than a million times"

// Returns a symbol as C++ has it: "gelu(float*, float const*, int, Context&)". Other symbols stay as they are.
std::string demangled(const std::string& symbol);

// What stands between commas, or whatever separates: nothing of an empty text.
std::vector<std::string_view> split(std::string_view text, char separator);

// Two values with as many digits as it takes to tell them apart, at least five.
std::pair<std::string, std::string> format_distinct(float got, float expected);

// Of `known` those that are nearest to a name that is not among them, by insertions, deletions and replacements: at most
// so many, the nearest first.
std::vector<std::string> nearest_names(std::string_view name, std::vector<std::string> known, std::size_t most);
// "; did you mean x?", or where nothing is near "; there is x, y, z" (or "; there is none").
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace checker
