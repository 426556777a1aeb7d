// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/tensor/tile_product.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace simt {
namespace {

constexpr int kLanes = 8;  // columns that are computed together, for the compiler to vectorise

// A zero's and a special value's exponent. They are so far apart from each other and from all finite ones that the sum of
// two exponents tells a product's kind: at least kSpecialProduct for Inf, NaN, and either of them times 0.
constexpr int kZero = -4096, kSpecial = 8192, kSpecialProduct = 2048;

constexpr int kTermBits = 30;  // fraction bits of an accumulator before it is aligned
constexpr int kLargestShift = 31;
constexpr int kProductsOfWord = 4;  // products whose sum fits 32 bits

// The parts of a floating-point format of at most 32 bits.
struct Format {
    int exponent_bits, fraction_bits;
    int skipped_bits = 0;  // below the fraction

    int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    std::uint32_t fraction(std::uint32_t bits) const { return bits >> skipped_bits & ((1U << fraction_bits) - 1); }
    int biased_exponent(std::uint32_t bits) const {
        return static_cast<int>(bits >> (skipped_bits + fraction_bits) & ((1U << exponent_bits) - 1));
    }
    bool is_negative(std::uint32_t bits) const {
        return (bits >> (skipped_bits + fraction_bits + exponent_bits) & 1) != 0;
    }
    bool is_special(std::uint32_t bits) const { return biased_exponent(bits) == (1 << exponent_bits) - 1; }
    bool is_nan(std::uint32_t bits) const { return is_special(bits) && fraction(bits) != 0; }
    bool is_zero(std::uint32_t bits) const { return biased_exponent(bits) == 0 && fraction(bits) == 0; }
};

constexpr Format kF16{.exponent_bits = 5, .fraction_bits = 10}, kBf16{.exponent_bits = 8, .fraction_bits = 7},
    kTf32{.exponent_bits = 8, .fraction_bits = 10, .skipped_bits = 13}, kF32{.exponent_bits = 8, .fraction_bits = 23};

const Format& format_of(TensorType type) {
    return type == TensorType::f16 ? kF16 : type == TensorType::bf16 ? kBf16 : kTf32;
}

struct Number {
    int significand;  // signed, with the format's fraction bits
    int exponent;     // of the leading bit's place; a subnormal's is the smallest normal one
};

Number decode(const Format& format, std::uint32_t bits) {
    const int biased = format.biased_exponent(bits);
    const int magnitude = static_cast<int>(format.fraction(bits)) | (biased > 0 ? 1 << format.fraction_bits : 0);
    const int exponent = magnitude == 0            ? kZero
                         : format.is_special(bits) ? kSpecial
                                                   : std::max(biased, 1) - format.bias();
    return {format.is_negative(bits) ? -magnitude : magnitude, exponent};
}

// Returns the floor of value / 2^shift toward zero.
int truncated(int value, int shift) {
    const int sign = value >> 31;
    return (((value ^ sign) - sign) >> shift ^ sign) - sign;
}

// Rows of A, or columns of B, as numbers. B's columns lie in blocks of kLanes, of which one is read at once.
struct Operand {
    std::vector<int> significands, exponents;
    std::vector<int> least_exponents;  // of each chunk: zero_exponent if one of its elements is 0, else kZero
};

struct Chunks {
    int k, length;

    int count() const { return (k + length - 1) / length; }
};

// Reads `vectors` vectors of k words, `lanes` of them interleaved. `shift` multiplies the significands by a power of two.
void decode_all(const Format& format, int vectors, int lanes, const Chunks& chunks, int shift, int zero_exponent,
                const std::uint32_t* words, Operand& out) {
    const int blocks = (vectors + lanes - 1) / lanes;
    const auto size = static_cast<std::size_t>(blocks) * static_cast<std::size_t>(lanes);
    out.significands.assign(size * static_cast<std::size_t>(chunks.k), 0);
    out.exponents.assign(size * static_cast<std::size_t>(chunks.k), kZero);
    out.least_exponents.assign(size * static_cast<std::size_t>(chunks.count()), kZero);
    for (int vector = 0; vector < vectors; vector++) {
        const int block = vector / lanes, lane = vector % lanes;
        for (int j = 0; j < chunks.k; j++) {
            const Number number = decode(format, *words++);
            const auto at = static_cast<std::size_t>((block * chunks.k + j) * lanes + lane);
            out.significands[at] = number.significand * (1 << shift);
            out.exponents[at] = number.exponent;
            if (number.exponent == kZero) {
                const int chunk = block * chunks.count() + j / chunks.length;
                out.least_exponents[static_cast<std::size_t>(chunk * lanes + lane)] = zero_exponent;
            }
        }
    }
}

// An accumulator's format, and how a sum is rounded to it.
struct F32 {
    using Bits = std::uint32_t;
    static constexpr Format kFormat = kF32;
    static constexpr Bits kNan = 0x7fffffffU, kInfinity = 0x7f800000U, kSign = 0x80000000U;

    static std::uint64_t shifted(std::uint64_t value, int shift) { return value >> std::min(shift, 63); }
};
struct F16 {
    using Bits = std::uint16_t;
    static constexpr Format kFormat = kF16;
    static constexpr Bits kNan = 0x7fffU, kInfinity = 0x7c00U, kSign = 0x8000U;

    static std::uint64_t shifted(std::uint64_t value, int shift) {  // to nearest even
        const int by = std::min(shift, 63);
        const std::uint64_t floor = value >> by, rest = value - (floor << by), half = std::uint64_t{1} << by >> 1;
        return floor + (rest > half || (rest == half && by > 0 && (floor & 1) != 0) ? 1 : 0);
    }
};

// Returns the bits of sum * 2^unit_exponent. A result of 0 is +0.
template <class Accumulator>
typename Accumulator::Bits rounded(std::int64_t sum, int unit_exponent) {
    constexpr Format kFormat = Accumulator::kFormat;
    constexpr int kFraction = kFormat.fraction_bits;
    const int bias = kFormat.bias(), smallest = 1 - bias;
    const std::uint64_t magnitude = sum < 0 ? 0 - static_cast<std::uint64_t>(sum) : static_cast<std::uint64_t>(sum);
    if (magnitude == 0) {
        return 0;
    }
    const int exponent = unit_exponent + std::bit_width(magnitude) - 1;
    if (exponent > bias) {
        return static_cast<typename Accumulator::Bits>(Accumulator::kInfinity | (sum < 0 ? Accumulator::kSign : 0));
    }
    const int last_place = std::max(exponent, smallest) - kFraction;
    const int shift = last_place - unit_exponent;
    const std::uint64_t kept = shift < 0 ? magnitude << -shift : Accumulator::shifted(magnitude, shift);
    // The leading bit of a normal number, and a carry out of its fraction, add to the exponent's field.
    const std::uint64_t bits = kept + (static_cast<std::uint64_t>(last_place + kFraction - smallest) << kFraction);
    return static_cast<typename Accumulator::Bits>(bits | (sum < 0 && bits != 0 ? Accumulator::kSign : 0));
}

// Adds a chunk among whose factors and accumulator an Inf or a NaN is.
template <class Accumulator>
typename Accumulator::Bits add_special(const Format& format, int length, const std::uint32_t* a, const std::uint32_t* b,
                                       typename Accumulator::Bits c) {
    constexpr Format kFormat = Accumulator::kFormat;
    bool is_nan = kFormat.is_nan(c);
    std::array<bool, 2> has_infinity{};  // positive, negative
    if (kFormat.is_special(c)) {
        has_infinity[kFormat.is_negative(c) ? 1 : 0] = true;
    }
    for (int j = 0; j < length; j++) {
        const bool is_special = format.is_special(a[j]) || format.is_special(b[j]);
        is_nan |= format.is_nan(a[j]) || format.is_nan(b[j]) ||
                  (is_special && (format.is_zero(a[j]) || format.is_zero(b[j])));
        if (is_special) {
            has_infinity[format.is_negative(a[j]) != format.is_negative(b[j]) ? 1 : 0] = true;
        }
    }
    if (is_nan || (has_infinity[0] && has_infinity[1])) {
        return Accumulator::kNan;
    }
    return static_cast<typename Accumulator::Bits>(Accumulator::kInfinity | (has_infinity[1] ? Accumulator::kSign : 0));
}

using Lanes = std::array<int, kLanes>;

// Adds `length` products of each lane to the accumulators, aligned to `largest`, with `fraction_bits` bits below it.
std::array<std::int64_t, kLanes> add_aligned(int length, const int* a_significands, const int* a_exponents,
                                             const int* b_significands, const int* b_exponents, const Lanes& largest) {
    std::array<std::int64_t, kLanes> sums{};
    for (int begin = 0; begin < length; begin += kProductsOfWord) {
        Lanes partial{};
        for (int j = begin; j < std::min(begin + kProductsOfWord, length); j++) {
            for (int n = 0; n < kLanes; n++) {
                const int product = a_significands[j] * b_significands[j * kLanes + n];
                const int shift = std::min(largest[n] - a_exponents[j] - b_exponents[j * kLanes + n], kLargestShift);
                partial[n] += truncated(product, shift);
            }
        }
        for (int n = 0; n < kLanes; n++) { sums[n] += partial[n]; }
    }
    return sums;
}

template <class Accumulator>
struct Tile {
    const TensorCore& core;
    const Format& format;
    int rows, columns;
    Chunks chunks;
    const std::uint32_t *a_words, *b_words;
    const Operand &a, &b;
    int zero_exponent;

    using Bits = typename Accumulator::Bits;
    using Values = std::array<Bits, kLanes>;

    // Adds the products of a chunk of row `row` and a block of columns to `values`.
    void add(int row, int block, int chunk, Values& values) const {
        const int begin = chunk * chunks.length, length = std::min(chunks.length, chunks.k - begin);
        const int* a_significands = &a.significands[static_cast<std::size_t>(row * chunks.k + begin)];
        const int* a_exponents = &a.exponents[static_cast<std::size_t>(row * chunks.k + begin)];
        const auto block_begin = static_cast<std::size_t>((block * chunks.k + begin) * kLanes);
        const int* b_significands = &b.significands[block_begin];
        const int* b_exponents = &b.exponents[block_begin];
        const int a_least = a.least_exponents[static_cast<std::size_t>(row * chunks.count() + chunk)];
        const int* b_least = &b.least_exponents[static_cast<std::size_t>((block * chunks.count() + chunk) * kLanes)];

        Lanes largest, significands, exponents;
        for (int n = 0; n < kLanes; n++) {
            const Number c = decode(Accumulator::kFormat, values[n]);
            significands[n] = c.significand * (1 << (kTermBits - Accumulator::kFormat.fraction_bits));
            exponents[n] = c.exponent == kZero ? zero_exponent : c.exponent;
            largest[n] = std::max({exponents[n], a_least, b_least[n]});
        }
        for (int j = 0; j < length; j++) {
            for (int n = 0; n < kLanes; n++) {
                largest[n] = std::max(largest[n], a_exponents[j] + b_exponents[j * kLanes + n]);
            }
        }
        const std::array<std::int64_t, kLanes> sums =
            add_aligned(length, a_significands, a_exponents, b_significands, b_exponents, largest);
        for (int n = 0; n < kLanes; n++) {
            if (largest[n] >= kSpecialProduct) {
                const int column = block * kLanes + n;
                values[n] = column < columns
                                ? add_special<Accumulator>(format, length, a_words + row * chunks.k + begin,
                                                           b_words + column * chunks.k + begin, values[n])
                                : Bits{0};
                continue;
            }
            const int shift = std::min(kTermBits - core.fraction_bits + largest[n] - exponents[n], kLargestShift);
            values[n] =
                rounded<Accumulator>(sums[n] + truncated(significands[n], shift), largest[n] - core.fraction_bits);
        }
    }
};

template <class Accumulator, class Element>
void multiply(const TensorCore& core, TensorType type, int rows, int columns, int k, const std::uint32_t* a,
              const std::uint32_t* b, const Element* c, Element* d) {
    const Format& format = format_of(type);
    const Chunks chunks{k, std::min(k, type == TensorType::tf32 ? core.chunk_tf32 : core.chunk_16_bit)};
    const bool is_f16 = sizeof(Element) == sizeof(std::uint16_t);
    const int zero_exponent = is_f16 ? core.zero_exponent_f16 : core.zero_exponent;
    thread_local Operand left, right;  // keep their memory from call to call
    decode_all(format, rows, 1, chunks, core.fraction_bits - 2 * format.fraction_bits, zero_exponent, a, left);
    decode_all(format, columns, kLanes, chunks, 0, zero_exponent, b, right);
    const Tile<Accumulator> tile{core, format, rows, columns, chunks, a, b, left, right, zero_exponent};
    for (int row = 0; row < rows; row++) {
        for (int first = 0; first < columns; first += kLanes) {
            const int count = std::min(kLanes, columns - first);
            typename Tile<Accumulator>::Values values{};
            for (int n = 0; n < count; n++) {
                values[n] = std::bit_cast<typename Accumulator::Bits>(c[row * columns + first + n]);
            }
            for (int chunk = 0; chunk < chunks.count(); chunk++) { tile.add(row, first / kLanes, chunk, values); }
            for (int n = 0; n < count; n++) { d[row * columns + first + n] = std::bit_cast<Element>(values[n]); }
        }
    }
}

constexpr TensorCore kVolta{.fraction_bits = 23,
                            .chunk_16_bit = 4,
                            .chunk_tf32 = 0,
                            .zero_exponent = -131,
                            .zero_exponent_f16 = -19,
                            .has_bf16 = false};
constexpr TensorCore kTuring{.fraction_bits = 24,
                             .chunk_16_bit = 8,
                             .chunk_tf32 = 0,
                             .zero_exponent = -132,
                             .zero_exponent_f16 = -20,
                             .has_bf16 = false};
constexpr TensorCore kAmpere{.fraction_bits = 24,
                             .chunk_16_bit = 8,
                             .chunk_tf32 = 4,
                             .zero_exponent = -132,
                             .zero_exponent_f16 = -20,
                             .has_bf16 = true};
constexpr TensorCore kHopper{.fraction_bits = 25,
                             .chunk_16_bit = 16,
                             .chunk_tf32 = 8,
                             .zero_exponent = -133,
                             .zero_exponent_f16 = -21,
                             .has_bf16 = true};

}  // namespace

const TensorCore* tensor_core(int compute_capability) {
    switch (compute_capability) {
        case 70:
            return &kVolta;
        case 75:
            return &kTuring;
        case 80:
        case 86:
        case 89:
            return &kAmpere;
        case 90:
        case 100:
        case 120:
            return &kHopper;
        default:
            return nullptr;
    }
}

void multiply_tile(const TensorCore& core, TensorType type, int rows, int columns, int k, const std::uint32_t* a,
                   const std::uint32_t* b, const float* c, float* d) {
    multiply<F32>(core, type, rows, columns, k, a, b, c, d);
}

void multiply_tile_f16(const TensorCore& core, int rows, int columns, int k, const std::uint32_t* a,
                       const std::uint32_t* b, const std::uint16_t* c, std::uint16_t* d) {
    multiply<F16>(core, TensorType::f16, rows, columns, k, a, b, c, d);
}

}  // namespace simt
