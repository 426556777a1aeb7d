// SPDX-License-Identifier: MIT
//
// What the checks of ops on a whole model share.
#pragma once

#include <vector>

#include "lessons/gpt2/check/sizes.h"
#include "lessons/gpt2/tensors.h"

namespace cases {

inline Config config_of(const Sizes& d) {
    return {.max_T = d["max_T"], .V = d["V"], .Vp = d["Vp"], .L = d["L"], .NH = d["NH"], .C = d["C"]};
}

inline std::vector<long> sizes_of(const Shape& shape) {
    return {shape.dims.begin(), shape.dims.begin() + shape.rank};
}

// f(name, dims, sizes) for each parameter, as checker::input takes them.
template <class F>
void visit_parameters(const Sizes& d, F&& f) {
    Parameters(config_of(d)).visit([&](const std::string& name, float*&, const Shape& shape) {
        f(name, shape.rank == 1 ? "C" : "O C", sizes_of(shape));
    });
}

}  // namespace cases
