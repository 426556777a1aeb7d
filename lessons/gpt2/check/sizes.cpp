// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace cases {
namespace {

// One axis of a tensor: "3C/c" is three times C, called c in an index.
struct Axis {
    long times = 1;
    std::string size;
};

Axis axis_of(std::string_view word) {
    word = word.substr(0, word.find('/'));
    Axis axis;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), axis.times);
    axis.size = word.substr(error == std::errc() ? static_cast<std::size_t>(end - word.data()) : 0);
    return axis;
}

std::pair<std::string, std::string> named(const std::string& word) {
    const std::size_t equals = word.find('=');
    return {word.substr(0, equals), equals == std::string::npos ? "" : word.substr(equals + 1)};
}

}  // namespace

std::vector<std::string> words(std::string_view text) {
    std::istringstream stream{std::string(text)};
    std::vector<std::string> result;
    for (std::string word; stream >> word;) { result.push_back(word); }
    return result;
}

Sizes Sizes::of(std::string_view text) {
    Sizes sizes;
    for (const std::string& word : words(text)) {
        const auto [name, digits] = named(word);
        int value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (name.empty() || error != std::errc() || end != digits.data() + digits.size() || value < 1) {
            throw std::invalid_argument(
                fmt::format("'{}' is no shape such as B=4 T=1024 C=768: {} is no size", text, word));
        }
        if (sizes.has(name)) {
            throw std::invalid_argument(fmt::format("'{}' is no shape: it has {} twice", text, name));
        }
        sizes.set(name, value);
    }
    return sizes;
}

CallSizes CallSizes::of(std::string_view text) {
    CallSizes call;
    std::string sizes;
    for (const std::string& word : words(text)) {
        if (word.size() == 1 || !word.starts_with('-')) {
            sizes += (sizes.empty() ? "" : " ") + word;
            continue;
        }
        const std::string parameter = word.substr(1);
        if (std::ranges::find(call.null, parameter) != call.null.end()) {
            throw std::invalid_argument(fmt::format("'{}' is no call: it has {} twice", text, word));
        }
        call.null.push_back(parameter);
    }
    call.sizes = Sizes::of(sizes);
    return call;
}

double Sizes::number(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) {
        std::vector<std::string> known;
        for (const auto& [size, value] : values_) { known.push_back(size); }
        throw std::invalid_argument(fmt::format("there is no {} among the sizes {}", name, fmt::join(known, ", ")));
    }
    return found->second;
}

int Sizes::operator[](std::string_view name) const {
    return static_cast<int>(number(name));
}

Sizes Sizes::completed(std::string_view defaults) const {
    Sizes result = *this;
    for (const std::string& word : words(defaults)) {
        const auto [name, value] = named(word);
        if (!result.has(name)) {
            const bool is_number = value.find_first_not_of("0123456789.") == std::string::npos;
            result.set(name, is_number ? std::stod(value) : result.number(value));
        }
    }
    return result;
}

Sizes Sizes::at_most(const Sizes& largest) const {
    Sizes result = *this;
    for (auto& [name, value] : result.values_) {
        value = largest.has(name) ? std::min(value, largest.number(name)) : value;
    }
    return result;
}

std::string Sizes::text(std::string_view names) const {
    std::vector<std::string> parts;
    for (const std::string& name : words(names)) { parts.push_back(fmt::format("{}={}", name, (*this)[name])); }
    return fmt::format("{}", fmt::join(parts, " "));
}

bool Sizes::has_axes(std::string_view dims) const {
    return std::ranges::all_of(words(dims), [&](const std::string& word) { return has(axis_of(word).size); });
}

std::vector<long> Sizes::axes(std::string_view dims) const {
    std::vector<long> result;
    for (const std::string& word : words(dims)) {
        const Axis axis = axis_of(word);
        result.push_back(axis.times * std::lround(number(axis.size)));
    }
    return result;
}

}  // namespace cases
