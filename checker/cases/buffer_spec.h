// SPDX-License-Identifier: MIT
//
// A tensor of a call: its name, its shape, what its elements are, and whether the op reads or writes it.
#pragma once

#include <cstddef>
#include <string>

#include "checker/cases/dims.h"
#include "checker/cases/element.h"

namespace checker {

enum class Role {
    input,   // must stay as it is
    output,  // is written, and holds nothing before
    inout,   // holds a value before, and another one afterwards: a gradient that grows, a parameter that is updated
    scratch,
};

struct BufferSpec {
    std::string name;
    Role role = Role::input;
    Element element = Element::f32;
    Dims dims;
    bool on_host = false;          // in the host's memory, pageable, though the op runs on a device
    std::size_t misalignment = 0;  // bytes from a multiple of 64 to its start
    std::size_t bytes() const { return static_cast<std::size_t>(dims.elements()) * bytes_of(element); }
};

}  // namespace checker
