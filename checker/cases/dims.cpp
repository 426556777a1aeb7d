// SPDX-License-Identifier: MIT
#include "checker/cases/dims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>

namespace checker {
namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

}  // namespace

Dims::Dims(std::string_view names, std::span<const long> sizes) : sizes_(sizes.begin(), sizes.end()) {
    std::istringstream words{std::string(names)};
    for (std::string word; words >> word;) {
        const std::size_t slash = word.find('/');
        names_.push_back(word.substr(0, slash));
        index_names_.push_back(lower(slash == std::string::npos ? word : word.substr(slash + 1)));
    }
    if (names_.size() != sizes_.size()) {
        throw std::invalid_argument(
            fmt::format("dimensions '{}' name {} axes, but the tensor has {}", names, names_.size(), sizes_.size()));
    }
}

Dims::Dims(std::string_view names, std::initializer_list<long> sizes)
    : Dims(names, std::span<const long>(sizes.begin(), sizes.size())) {}

long Dims::elements() const {
    long n = 1;
    for (const long size : sizes_) { n *= size; }
    return n;
}

std::vector<long> Dims::index(long element) const {
    std::vector<long> index(rank());
    for (std::size_t axis = rank(); axis-- > 0;) {
        index[axis] = element % sizes_[axis];
        element /= sizes_[axis];
    }
    return index;
}

std::string Dims::index_text(long element) const {
    const std::vector<long> at = index(element);
    std::vector<std::string> parts;
    for (std::size_t axis = 0; axis < rank(); axis++) {
        parts.push_back(fmt::format("{}={}", index_names_[axis], at[axis]));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string Dims::text() const {
    std::vector<std::string> parts;
    for (std::size_t axis = 0; axis < rank(); axis++) {
        parts.push_back(fmt::format("{}={}", names_[axis], sizes_[axis]));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace checker
