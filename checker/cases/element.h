// SPDX-License-Identifier: MIT
//
// What the elements of a tensor are, and their values. Whatever they are, the check compares them as floats; integers
// also as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "checker/cases/safetensors.h"

namespace checker {

enum class Element : std::uint8_t {
    f32,
    bf16,
    f16,
    f8_e4m3,  // as PyTorch's float8_e4m3fn: no infinities, one NaN for each sign
    f8_e5m2,
    i8,
    i32,
    i64,
    byte,  // of scratch: nothing that has a value
};
std::size_t bytes_of(Element element);
std::string_view name_of(Element element);  // "bf16"
bool is_integer(Element element);
Element element_of(DType dtype);  // throws std::invalid_argument for a dtype that is none of these
bool has_elements(DType dtype, Element element);

// The distance from |value| to the next larger number of these elements; for integers that of float32.
double ulp(float value, Element element = Element::f32);

// The elements' values. Integers are there exactly too: as floats, those beyond 2^24 are rounded.
struct Decoded {
    std::vector<float> values;
    std::vector<std::int64_t> integers;  // empty where the elements are no integers
};
Decoded decode(std::span<const std::byte> bytes, Element element);

// The elements nearest to the values; of two that are equally near, the even one. What is beyond the largest number
// becomes infinite, or NaN where there is no infinity. Of integers, nearest and in range; NaN is 0.
std::vector<std::byte> encode(std::span<const float> values, Element element);

}  // namespace checker
