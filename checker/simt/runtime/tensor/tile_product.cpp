// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/tensor/tile_product.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <vector>

namespace simt {
namespace {

constexpr int kLanes = 8;  // columns that are computed together
using Lanes = std::int32_t __attribute__((vector_size(kLanes * sizeof(std::int32_t))));
using Sums = std::array<std::int64_t, kLanes>;

// A zero's and a special value's exponent. They are so far from all finite ones that the sum of two exponents tells if a
// product is special: Inf, NaN, or either of them times 0.
constexpr int kZero = -4096, kSpecial = 8192, kSpecialProduct = 2048;

constexpr int kTermBits = 30;  // fraction bits of an accumulator before it is aligned
constexpr int kLargestShift = 31;
constexpr int kProductsOfWord = 4;  // products whose sum fits 32 bits

// A floating-point format of at most 32 bits.
struct Format {
    int exponent_bits, fraction_bits;
    int skipped_bits = 0;  // below the fraction

    constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    constexpr int smallest_exponent() const { return 1 - bias(); }
    constexpr int top() const { return (1 << exponent_bits) - 1; }  // the exponent's field of Inf and NaN
    constexpr int sign() const { return static_cast<int>(1U << (exponent_bits + fraction_bits)); }
    constexpr int infinity() const { return top() << fraction_bits; }
    constexpr int nan() const { return infinity() | ((1 << fraction_bits) - 1); }  // the one that hardware returns

    // Int is std::int32_t or Lanes.
    template <class Int>
    Int field(Int bits) const {
        return bits >> (skipped_bits + fraction_bits) & top();
    }
    template <class Int>
    Int fraction(Int bits) const {
        return bits >> skipped_bits & ((1 << fraction_bits) - 1);
    }
    template <class Int>
    Int is_negative(Int bits) const {  // 0 or not 0
        return bits & (1 << (skipped_bits + fraction_bits) << exponent_bits);
    }
    bool is_special(int bits) const { return field(bits) == top(); }
    bool is_nan(int bits) const { return is_special(bits) && fraction(bits) != 0; }
    bool is_zero(int bits) const { return field(bits) == 0 && fraction(bits) == 0; }
};

constexpr Format kF16{.exponent_bits = 5, .fraction_bits = 10}, kBf16{.exponent_bits = 8, .fraction_bits = 7},
    kTf32{.exponent_bits = 8, .fraction_bits = 10, .skipped_bits = 13}, kF32{.exponent_bits = 8, .fraction_bits = 23};

const Format& format_of(TensorType type) {
    return type == TensorType::f16 ? kF16 : type == TensorType::bf16 ? kBf16 : kTf32;
}

struct Numbers {
    Lanes significands;  // signed, with the format's fraction bits
    Lanes exponents;     // a subnormal's is the smallest normal one
};

Numbers decode(const Format& format, const Lanes& bits) {
    const Lanes field = format.field(bits);
    const Lanes magnitudes = format.fraction(bits) | (field > 0 ? Lanes{} + (1 << format.fraction_bits) : Lanes{});
    const Lanes finite = (field > 1 ? field : Lanes{} + 1) - format.bias();
    const Lanes not_zero = field == format.top() ? Lanes{} + kSpecial : finite;
    return {.significands = format.is_negative(bits) != 0 ? -magnitudes : magnitudes,
            .exponents = magnitudes == 0 ? Lanes{} + kZero : not_zero};
}

Lanes larger(const Lanes& a, const Lanes& b) {
    return a > b ? a : b;
}

// Rounds each value / 2^shift toward zero. A shift by kLargestShift or more leaves nothing of any value that occurs.
Lanes truncated(const Lanes& values, const Lanes& shifts) {
    const Lanes signs = values >> 31, largest_shift = Lanes{} + kLargestShift;
    return (((values ^ signs) - signs) >> (shifts < largest_shift ? shifts : largest_shift) ^ signs) - signs;
}

struct Chunks {
    int k, length;

    int count() const { return (k + length - 1) / length; }
};

std::size_t size(int count) {
    return static_cast<std::size_t>(count);
}

// A's rows. Row r begins at r * chunks.k. A chunk's least exponent is zero_exponent if one of its elements is 0, else kZero.
struct Rows {
    std::vector<int> significands, exponents;
    std::vector<int> least_exponents;  // chunks.count() for each row

    // Multiplies the significands by 2^shift.
    void decode(const Format& format, int rows, const Chunks& chunks, int shift, int zero_exponent,
                const std::uint32_t* words) {
        const int count = rows * chunks.k, padded = (count + kLanes - 1) / kLanes * kLanes;
        significands.resize(size(padded));
        exponents.resize(size(padded));
        for (int i = 0; i < count; i += kLanes) {
            Lanes bits{};
            std::memcpy(&bits, words + i, size(std::min(kLanes, count - i)) * sizeof *words);
            const Numbers numbers = simt::decode(format, bits);
            const Lanes shifted = numbers.significands << shift;
            std::memcpy(&significands[size(i)], &shifted, sizeof shifted);
            std::memcpy(&exponents[size(i)], &numbers.exponents, sizeof numbers.exponents);
        }
        least_exponents.assign(size(rows * chunks.count()), kZero);
        for (int i = 0; i < count; i++) {
            if (exponents[size(i)] == kZero) {
                least_exponents[size(i / chunks.k * chunks.count() + i % chunks.k / chunks.length)] = zero_exponent;
            }
        }
    }
};

// kLanes columns of B. Columns beyond the last one are 0.
struct Columns {
    std::vector<Lanes> significands, exponents;
    std::vector<Lanes> least_exponents;  // by chunk

    void decode(const Format& format, int columns, const Chunks& chunks, int zero_exponent,
                const std::uint32_t* words) {
        significands.resize(size(chunks.k));
        exponents.resize(size(chunks.k));
        least_exponents.assign(size(chunks.count()), Lanes{} + kZero);
        for (int j = 0; j < chunks.k; j++) {
            Lanes bits{};
            for (int n = 0; n < columns; n++) { bits[n] = static_cast<int>(words[n * chunks.k + j]); }
            const Numbers numbers = simt::decode(format, bits);
            significands[size(j)] = numbers.significands;
            exponents[size(j)] = numbers.exponents;
            Lanes& least = least_exponents[size(j / chunks.length)];
            least = numbers.exponents == kZero ? Lanes{} + zero_exponent : least;
        }
    }
};

// Returns value / 2^shift, rounded to nearest even.
std::uint64_t to_nearest(std::uint64_t value, int shift) {
    const std::uint64_t floor = value >> shift, rest = value - (floor << shift), half = std::uint64_t{1} << shift >> 1;
    return floor + (rest > half || (rest == half && shift > 0 && (floor & 1) != 0) ? 1 : 0);
}

// Returns the accumulator nearest to sum * 2^unit_exponent, if it is f16, or the next one toward zero. A 0 is +0.
template <const Format& kFormat>
int rounded(std::int64_t sum, int unit_exponent) {
    const auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
    if (magnitude == 0) {
        return 0;
    }
    const int sign = sum < 0 ? kFormat.sign() : 0;
    const int exponent = unit_exponent + static_cast<int>(std::bit_width(magnitude)) - 1;
    if (exponent > kFormat.bias()) {
        return kFormat.infinity() | sign;
    }
    const int last_place = std::max(exponent, kFormat.smallest_exponent()) - kFormat.fraction_bits;
    const int shift = std::min(last_place - unit_exponent, 63);
    const std::uint64_t kept = shift < 0           ? magnitude << -shift
                               : &kFormat == &kF16 ? to_nearest(magnitude, shift)
                                                   : magnitude >> shift;
    // A normal number's leading bit and a carry out of the fraction add to the exponent's field.
    const int field = last_place + kFormat.fraction_bits - kFormat.smallest_exponent();
    const int bits = static_cast<int>(kept) + (field << kFormat.fraction_bits);
    return bits == 0 ? 0 : bits | sign;
}

// Adds a chunk with an Inf or a NaN among its factors and the accumulator c.
template <const Format& kFormat>
int add_special(const Format& format, int length, const std::uint32_t* a_words, const std::uint32_t* b_words, int c) {
    bool is_nan = kFormat.is_nan(c);
    bool has_positive = kFormat.is_special(c) && kFormat.is_negative(c) == 0;
    bool has_negative = kFormat.is_special(c) && kFormat.is_negative(c) != 0;
    for (int j = 0; j < length; j++) {
        const int a = static_cast<int>(a_words[j]), b = static_cast<int>(b_words[j]);
        if (format.is_special(a) || format.is_special(b)) {
            is_nan |= format.is_nan(a) || format.is_nan(b) || format.is_zero(a) || format.is_zero(b);
            (((format.is_negative(a) ^ format.is_negative(b)) != 0) ? has_negative : has_positive) = true;
        }
    }
    if (is_nan || (has_positive && has_negative)) {
        return kFormat.nan();
    }
    return kFormat.infinity() | (has_negative ? kFormat.sign() : 0);
}

// A chunk of a row and of kLanes columns.
struct Chunk {
    int length;
    const int *a_significands, *a_exponents;
    const Lanes *b_significands, *b_exponents;

    Lanes largest_exponents(Lanes least) const {
        for (int j = 0; j < length; j++) { least = larger(least, a_exponents[j] + b_exponents[j]); }
        return least;
    }
    // Adds up the products, aligned to `largest` and truncated.
    Sums add(const Lanes& largest) const {
        Sums sums{};
        for (int begin = 0; begin < length; begin += kProductsOfWord) {
            Lanes partial{};
            for (int j = begin; j < std::min(begin + kProductsOfWord, length); j++) {
                partial += truncated(a_significands[j] * b_significands[j], largest - a_exponents[j] - b_exponents[j]);
            }
            for (int n = 0; n < kLanes; n++) { sums[size(n)] += partial[n]; }
        }
        return sums;
    }
};

// The product of A and kLanes columns of B, with accumulators of kFormat.
template <const Format& kFormat>
struct Product {
    const TensorCore& core;
    const Format& format;
    Chunks chunks;
    int columns;  // up to kLanes
    int zero_exponent;
    const std::uint32_t *a_words, *b_words;
    const Rows& a;
    const Columns& b;

    // Adds the products of a row's chunk to the accumulators.
    Lanes add(int row, int chunk_index, const Lanes& accumulators) const {
        const int begin = chunk_index * chunks.length, row_begin = row * chunks.k + begin;
        const Chunk chunk{.length = std::min(chunks.length, chunks.k - begin),
                          .a_significands = &a.significands[size(row_begin)],
                          .a_exponents = &a.exponents[size(row_begin)],
                          .b_significands = &b.significands[size(begin)],
                          .b_exponents = &b.exponents[size(begin)]};
        const Numbers c = decode(kFormat, accumulators);
        const Lanes c_exponents = c.exponents == kZero ? Lanes{} + zero_exponent : c.exponents;
        const Lanes least = larger(b.least_exponents[size(chunk_index)],
                                   Lanes{} + a.least_exponents[size(row * chunks.count() + chunk_index)]);
        const Lanes largest = chunk.largest_exponents(larger(least, c_exponents));
        const Sums products = chunk.add(largest);
        const Lanes terms = truncated(c.significands << (kTermBits - kFormat.fraction_bits),
                                      largest - c_exponents + (kTermBits - core.fraction_bits));
        Lanes result{};
        for (int n = 0; n < columns; n++) {
            result[n] = largest[n] < kSpecialProduct
                            ? rounded<kFormat>(products[size(n)] + terms[n], largest[n] - core.fraction_bits)
                            : add_special<kFormat>(format, chunk.length, a_words + row_begin,
                                                   b_words + n * chunks.k + begin, accumulators[n]);
        }
        return result;
    }
};

// Bits is an unsigned integer as wide as Element, a float or the bits of an f16.
template <const Format& kFormat, class Bits, class Element>
void multiply(const TensorCore& core, TensorType type, int rows, int columns, int k, const std::uint32_t* a,
              const std::uint32_t* b, const Element* c, Element* d) {
    const Format& format = format_of(type);
    const Chunks chunks{k, std::min(k, type == TensorType::tf32 ? core.chunk_tf32 : core.chunk_16_bit)};
    const int zero_exponent = &kFormat == &kF16 ? core.zero_exponent_f16 : core.zero_exponent;
    thread_local Rows left;  // keep their memory from call to call
    thread_local Columns right;
    left.decode(format, rows, chunks, core.fraction_bits - 2 * format.fraction_bits, zero_exponent, a);
    for (int first = 0; first < columns; first += kLanes) {
        const int count = std::min(kLanes, columns - first);
        const std::uint32_t* b_words = b + first * k;
        right.decode(format, count, chunks, zero_exponent, b_words);
        const Product<kFormat> product{core, format, chunks, count, zero_exponent, a, b_words, left, right};
        for (int row = 0; row < rows; row++) {
            const int at = row * columns + first;
            Lanes values{};
            for (int n = 0; n < count; n++) { values[n] = static_cast<int>(std::bit_cast<Bits>(c[at + n])); }
            for (int chunk = 0; chunk < chunks.count(); chunk++) { values = product.add(row, chunk, values); }
            for (int n = 0; n < count; n++) { d[at + n] = std::bit_cast<Element>(static_cast<Bits>(values[n])); }
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
    multiply<kF32, std::uint32_t>(core, type, rows, columns, k, a, b, c, d);
}

void multiply_tile_f16(const TensorCore& core, int rows, int columns, int k, const std::uint32_t* a,
                       const std::uint32_t* b, const std::uint16_t* c, std::uint16_t* d) {
    multiply<kF16, std::uint16_t>(core, TensorType::f16, rows, columns, k, a, b, c, d);
}

}  // namespace simt
