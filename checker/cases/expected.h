// SPDX-License-Identifier: MIT
//
// What an output should be, and what classic mistakes would make of it.
#pragma once

#include <span>
#include <string>

#include "checker/cases/dims.h"

namespace checker {

// What an output should be, and how far from it is still right.
struct Expected {
    std::span<const float> values;  // as many as the output has elements
    std::span<const float> floor;   // one a row, or one an element
    double factor = 0;              // k * max(ratio, 1), see budget.h
    bool exact_zeros = false;       // where the reference is 0, nothing but 0 is right (masked probabilities)
};

// Whether `floors` is a number of floors that an output of this shape can have.
inline bool has_floors(const Dims& dims, std::size_t floors) {
    return floors == static_cast<std::size_t>(dims.rows()) || floors == static_cast<std::size_t>(dims.elements());
}

// What an output would be under a classic mistake.
struct Suspect {
    std::string id;                 // "variance_c_minus_1"
    std::string what;               // "the variance was divided by C-1, not by C"
    std::span<const float> values;  // as many as the output has elements
};

}  // namespace checker
