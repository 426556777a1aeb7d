// SPDX-License-Identifier: MIT
//
// What an output should be, and what classic mistakes would make of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "checker/cases/dims.h"
#include "checker/cases/element.h"

namespace checker {

// What an output should be, and how far from it is still right.
struct Expected {
    std::span<const float> values;   // as many as the output has elements
    std::span<const float> floor;    // one a row, or one an element; none for integers
    double factor = 0;               // k * max(ratio, 1), see budget.h
    bool exact_zeros = false;        // where the reference is 0, nothing but 0 is right (masked probabilities)
    Element element = Element::f32;  // the output's: no error is smaller than one ulp of it
    std::span<const std::int64_t> integers = {};  // of an output of integers: nothing but these is right
};

// Whether it has as many values and floors as an output of this shape can have.
inline bool has_shape(const Expected& expected, const Dims& dims) {
    const auto elements = static_cast<std::size_t>(dims.elements()), rows = static_cast<std::size_t>(dims.rows());
    const std::size_t floors = expected.floor.size();
    return expected.values.size() == elements &&
           (is_integer(expected.element) ? expected.integers.size() == elements : floors == rows || floors == elements);
}

// What an output would be under a classic mistake.
struct Suspect {
    std::string id;                 // "variance_c_minus_1"
    std::string what;               // "the variance was divided by C-1, not by C"
    std::span<const float> values;  // as many as the output has elements
    // How far from `values` an element may lie beside its budget, one a row or one an element: of a mistake that only loses
    // bits. Where it is infinite, anything may come out.
    std::span<const float> spread = {};
};

}  // namespace checker
