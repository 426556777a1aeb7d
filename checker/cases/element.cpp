// SPDX-License-Identifier: MIT
#include "checker/cases/element.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>

namespace checker {
namespace {

// A floating-point type: sign, exponent and fraction, from the highest bit down. Of float32 only what ulp() asks.
struct Format {
    int exponent_bits;
    int fraction_bits;
    bool has_infinity;
    int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    int smallest_exponent() const { return 1 - bias(); }  // below it numbers are evenly spaced
    std::uint32_t sign_bit() const { return 1U << (exponent_bits + fraction_bits); }
    // Infinity where there is one; without, the only NaN.
    std::uint32_t beyond() const {
        const std::uint32_t all = sign_bit() - 1;
        return has_infinity ? all & ~((1U << fraction_bits) - 1) : all;
    }
    std::uint32_t nan() const { return sign_bit() - 1; }
};

struct ElementInfo {
    std::string_view name;
    std::size_t bytes;
    bool integer;
    Format format;
};

const ElementInfo& info(Element element) {
    constexpr Format kFloat32{8, 23, true};
    static constexpr std::array kElements{
        ElementInfo{"f32", 4, false, kFloat32},         ElementInfo{"bf16", 2, false, {8, 7, true}},
        ElementInfo{"f16", 2, false, {5, 10, true}},    ElementInfo{"f8_e4m3", 1, false, {4, 3, false}},
        ElementInfo{"f8_e5m2", 1, false, {5, 2, true}}, ElementInfo{"i8", 1, true, kFloat32},
        ElementInfo{"i32", 4, true, kFloat32},          ElementInfo{"i64", 8, true, kFloat32},
        ElementInfo{"byte", 1, false, kFloat32},
    };
    return kElements.at(static_cast<std::size_t>(element));
}

float value_of(std::uint32_t bits, const Format& format) {
    const float sign = (bits & format.sign_bit()) != 0 ? -1.0F : 1.0F;
    const std::uint32_t magnitude = bits & (format.sign_bit() - 1);
    if (magnitude >= format.beyond()) {
        return format.has_infinity && magnitude == format.beyond()
                   ? sign * std::numeric_limits<float>::infinity()
                   : std::copysign(std::numeric_limits<float>::quiet_NaN(), sign);
    }
    const auto exponent = static_cast<int>(magnitude >> format.fraction_bits);
    std::uint32_t significand = magnitude & ((1U << format.fraction_bits) - 1);
    significand |= exponent == 0 ? 0 : 1U << format.fraction_bits;
    const int power = std::max(exponent, 1) - format.bias() - format.fraction_bits;
    return sign * std::ldexp(static_cast<float>(significand), power);
}

std::uint32_t nearest(float value, const Format& format) {
    const std::uint32_t sign = std::signbit(value) ? format.sign_bit() : 0;
    if (std::isnan(value)) {
        return sign | format.nan();
    }
    const double magnitude = std::abs(static_cast<double>(value));
    if (magnitude == 0 || std::isinf(magnitude)) {
        return sign | (magnitude == 0 ? 0 : format.beyond());
    }
    const int exponent = std::max(std::ilogb(magnitude), format.smallest_exponent());
    // In units of the last place, below the smallest exponent those of the denormals; a carry out of the fraction is the
    // next exponent, as it should be.
    const double units = std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent));
    const auto bits = static_cast<std::uint64_t>(units) +
                      (static_cast<std::uint64_t>(exponent - format.smallest_exponent()) << format.fraction_bits);
    return sign | static_cast<std::uint32_t>(std::min<std::uint64_t>(bits, format.beyond()));
}

template <class T>
void append_integers(Decoded& decoded, std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
        T value;
        std::memcpy(&value, bytes.data() + at, sizeof(T));
        decoded.values.push_back(static_cast<float>(value));
        decoded.integers.push_back(value);
    }
}

template <class T>
T nearest_integer(float value) {
    using Limits = std::numeric_limits<T>;
    const double whole = std::nearbyint(static_cast<double>(value));
    return std::isnan(whole)                                ? T{0}
           : whole >= static_cast<double>(Limits::max())    ? Limits::max()
           : whole <= static_cast<double>(Limits::lowest()) ? Limits::lowest()
                                                            : static_cast<T>(whole);
}

template <class T>
void store(std::byte* to, T value) {
    std::memcpy(to, &value, sizeof value);
}

std::optional<Element> find_element(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return Element::f32;
        case DType::bf16:
            return Element::bf16;
        case DType::f16:
            return Element::f16;
        case DType::f8_e4m3:
            return Element::f8_e4m3;
        case DType::f8_e5m2:
            return Element::f8_e5m2;
        case DType::i8:
            return Element::i8;
        case DType::i32:
            return Element::i32;
        case DType::i64:
            return Element::i64;
        default:
            return std::nullopt;
    }
}

}  // namespace

std::size_t bytes_of(Element element) {
    return info(element).bytes;
}

std::string_view name_of(Element element) {
    return info(element).name;
}

bool is_integer(Element element) {
    return info(element).integer;
}

Element element_of(DType dtype) {
    if (const std::optional<Element> element = find_element(dtype)) {
        return *element;
    }
    throw std::invalid_argument(fmt::format("no op has tensors of {}", to_string(dtype)));
}

bool has_elements(DType dtype, Element element) {
    return find_element(dtype) == element;
}

double ulp(float value, Element element) {
    const Format& format = info(element).format;
    const int smallest = format.smallest_exponent();
    const int exponent = value == 0.0F ? smallest : std::max(std::ilogb(value), smallest);
    return std::ldexp(1.0, exponent - format.fraction_bits);
}

Decoded decode(std::span<const std::byte> bytes, Element element) {
    Decoded decoded;
    const std::size_t size = bytes_of(element);
    decoded.values.reserve(bytes.size() / size);
    switch (element) {
        case Element::f32:
            decoded.values.resize(bytes.size() / size);
            std::memcpy(decoded.values.data(), bytes.data(), decoded.values.size() * size);
            break;
        case Element::i8:
            append_integers<std::int8_t>(decoded, bytes);
            break;
        case Element::i32:
            append_integers<std::int32_t>(decoded, bytes);
            break;
        case Element::i64:
            append_integers<std::int64_t>(decoded, bytes);
            break;
        case Element::byte:
            throw std::logic_error("bytes of scratch have no values");
        default:
            for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
                std::uint16_t bits = 0;
                std::memcpy(&bits, bytes.data() + at, size);
                decoded.values.push_back(value_of(bits, info(element).format));
            }
    }
    return decoded;
}

std::vector<std::byte> encode(std::span<const float> values, Element element) {
    const std::size_t size = bytes_of(element);
    std::vector<std::byte> bytes(values.size() * size);
    std::byte* to = bytes.data();
    for (const float value : values) {
        switch (element) {
            case Element::f32:
                store(to, value);
                break;
            case Element::i8:
                store(to, nearest_integer<std::int8_t>(value));
                break;
            case Element::i32:
                store(to, nearest_integer<std::int32_t>(value));
                break;
            case Element::i64:
                store(to, nearest_integer<std::int64_t>(value));
                break;
            case Element::byte:
                throw std::logic_error("bytes of scratch have no values");
            default: {
                const auto bits = static_cast<std::uint16_t>(nearest(value, info(element).format));
                std::memcpy(to, &bits, size);
            }
        }
        to += size;
    }
    return bytes;
}

}  // namespace checker
