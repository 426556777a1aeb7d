// SPDX-License-Identifier: MIT
//
// A tensor of a call: its name, its shape, what its elements are, and whether the op reads or writes it.
#pragma once

#include <cstddef>
#include <string>

#include "checker/cases/dims.h"

namespace checker {

enum class Role { input, output, scratch };
enum class Element { f32, i32, byte };
std::size_t bytes_of(Element element);

struct BufferSpec {
    std::string name;
    Role role = Role::input;
    Element element = Element::f32;
    Dims dims;
    std::size_t bytes() const { return static_cast<std::size_t>(dims.elements()) * bytes_of(element); }
};

}  // namespace checker
