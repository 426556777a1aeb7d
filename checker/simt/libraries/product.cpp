// SPDX-License-Identifier: MIT
#include "checker/simt/libraries/product.h"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "checker/simt/include/simt/short_float.h"
#include "checker/simt/libraries/library_call.h"

namespace simt {
namespace {

// ---- one number -------------------------------------------------------------------------------------------------------

constexpr std::uint32_t kMagnitude = 0x7fffffffU, kInfinity = 0x7f800000U;

// The lowest `dropped` bits become 0, and the rest is rounded to nearest even; a NaN stays one.
template <int dropped>
float rounded(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    constexpr std::uint32_t kHalf = 1U << (dropped - 1), kKept = ~((1U << dropped) - 1);
    const std::uint32_t near = (bits + (kHalf - 1) + ((bits >> dropped) & 1U)) & kKept;
    const std::uint32_t nan = (bits & kKept) | 1U << 22;
    return std::bit_cast<float>((bits & kMagnitude) > kInfinity ? nan : near);
}

constexpr int kDroppedByTf32 = 13, kDroppedByBf16 = 16;

float truncated(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    constexpr std::uint32_t kKept = ~((1U << kDroppedByTf32) - 1);
    return std::bit_cast<float>((bits & kKept) | ((bits & kMagnitude) > kInfinity ? 1U << 22 : 0U));
}

float from_bf16(std::uint16_t bits) {
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

std::uint16_t to_bf16(float value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(rounded<kDroppedByBf16>(value)) >> 16);
}

// The exponent's bias is put right by a multiplication, which is exact and does subnormal numbers as well.
float from_fp16(std::uint16_t bits) {
    constexpr float kBias = 0x1p112F;
    const std::uint32_t magnitude = std::uint32_t{bits & 0x7fffU} << 13;
    const auto scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * kBias);
    const std::uint32_t special = (bits & 0x7c00U) == 0x7c00U ? kInfinity : 0;
    return std::bit_cast<float>(scaled | special | std::uint32_t{bits & 0x8000U} << 16);
}

std::uint16_t to_fp16(float value) {
    return HalfFormat::round(static_cast<double>(value));
}

bool truncates_tf32() {
    static const bool wanted = [] {
        const char* set = std::getenv("SIMT_TF32");
        return set != nullptr && std::string_view(set) == "truncate";
    }();
    return wanted;
}

// NVIDIA's own switch for all of its libraries; another value than 0 changes nothing.
bool tf32_is_off() {
    static const bool off = [] {
        const char* set = std::getenv("NVIDIA_TF32_OVERRIDE");
        const bool forbids = set != nullptr && std::string_view(set) == "0";
        if (forbids && is_verbose()) {
            fmt::print(stderr, "simt: NVIDIA_TF32_OVERRIDE=0: what was to be rounded to TF32 is not\n");
        }
        return forbids;
    }();
    return off;
}

// ---- many --------------------------------------------------------------------------------------------------------------

template <class From, class To, class Convert>
void each(const void* from, void* to, long count, Convert convert) {
    const From* const in = static_cast<const From*>(from);
    To* const out = static_cast<To*>(to);
    for (long i = 0; i < count; i++) { out[i] = convert(in[i]); }
}

void round_inputs(float* values, Inputs inputs, long count) {
    switch (inputs) {
        case Inputs::as_they_are:
            return;
        case Inputs::tf32:
            truncates_tf32() ? each<float, float>(values, values, count, truncated)
                             : each<float, float>(values, values, count, rounded<kDroppedByTf32>);
            return;
        case Inputs::bf16:
            return each<float, float>(values, values, count, rounded<kDroppedByBf16>);
        case Inputs::fp16:
            return each<float, float>(values, values, count, [](float value) { return from_fp16(to_fp16(value)); });
    }
}

// ---- a product ---------------------------------------------------------------------------------------------------------

CBLAS_TRANSPOSE op(bool transposed) {
    return transposed ? CblasTrans : CblasNoTrans;
}

bool is_exact(const Operand& x, Inputs inputs) {
    return x.element == Element::fp32 && inputs == Inputs::as_they_are;
}

// `outer` of op(X)'s rows (A) or columns (B), from `first` on, each with `inner` values: stored as X is, without gaps.
Operand part(const Operand& x, bool inner_is_contiguous, long first, long outer, long inner, Inputs inputs,
             std::vector<float>& room) {
    const auto bytes = static_cast<long>(bytes_of(x.element));
    const char* const begin = static_cast<const char*>(x.data) + bytes * (inner_is_contiguous ? first * x.ld : first);
    if (is_exact(x, inputs)) {
        return {begin, Element::fp32, x.transposed, x.ld};
    }
    const long rows = inner_is_contiguous ? inner : outer, columns = inner_is_contiguous ? outer : inner;
    room.resize(std::max(room.size(), static_cast<std::size_t>(rows * columns)));
    for (long column = 0; column < columns; column++) {
        float* const to = room.data() + column * rows;
        widen(begin + column * x.ld * bytes, x.element, to, rows);
        if (x.element == Element::fp32) {
            round_inputs(to, inputs, rows);
        }
    }
    return {room.data(), Element::fp32, x.transposed, std::max(rows, 1L)};
}

// So many rows or columns of the larger input are converted at once: they stay in a core's cache until they are
// multiplied.
long converted_at_once(long inner) {
    constexpr long kFloats = 1L << 17, kMultiple = 32;
    return std::max(kFloats / std::max(inner, 1L) / kMultiple, 2L) * kMultiple;
}

// values = alpha op(A) op(B) + beta values
void accumulate(const Product& p, float beta, float* values, long ld) {
    const long k = p.alpha == 0 ? 0 : p.k;  // then A and B are not read
    const auto sgemm = [&](const Operand& a, const Operand& b, long m, long n, float* to) {
        cblas_sgemm(CblasColMajor, op(a.transposed), op(b.transposed), static_cast<int>(m), static_cast<int>(n),
                    static_cast<int>(k), static_cast<float>(p.alpha), static_cast<const float*>(a.data),
                    static_cast<int>(a.ld), static_cast<const float*>(b.data), static_cast<int>(b.ld), beta, to,
                    static_cast<int>(ld));
    };
    std::vector<float> a_room, b_room;
    const auto rows_of_a = [&](long first, long count) {
        return part(p.a, p.a.transposed, first, count, k, p.inputs, a_room);
    };
    const auto columns_of_b = [&](long first, long count) {
        return part(p.b, !p.b.transposed, first, count, k, p.inputs, b_room);
    };
    const bool splits_a = p.m >= p.n;
    if (is_exact(splits_a ? p.a : p.b, p.inputs)) {
        sgemm(rows_of_a(0, p.m), columns_of_b(0, p.n), p.m, p.n, values);
    } else if (splits_a) {
        const Operand b = columns_of_b(0, p.n);
        const long step = converted_at_once(k);
        for (long i = 0; i < p.m; i += step) {
            const long count = std::min(step, p.m - i);
            sgemm(rows_of_a(i, count), b, count, p.n, values + i);
        }
    } else {
        const Operand a = rows_of_a(0, p.m);
        const long step = converted_at_once(k);
        for (long j = 0; j < p.n; j += step) {
            const long count = std::min(step, p.n - j);
            sgemm(a, columns_of_b(j, count), p.m, count, values + j * ld);
        }
    }
}

void multiply_doubles(const Product& p) {
    auto* const d = static_cast<double*>(p.d);
    if (p.beta != 0 && p.c.data != p.d) {
        for (long j = 0; j < p.n; j++) {
            std::copy_n(static_cast<const double*>(p.c.data) + j * p.c.ld, p.m, d + j * p.ldd);
        }
    }
    cblas_dgemm(CblasColMajor, op(p.a.transposed), op(p.b.transposed), static_cast<int>(p.m), static_cast<int>(p.n),
                static_cast<int>(p.k), p.alpha, static_cast<const double*>(p.a.data), static_cast<int>(p.a.ld),
                static_cast<const double*>(p.b.data), static_cast<int>(p.b.ld), p.beta, d, static_cast<int>(p.ldd));
}

void use_one_core() {
    static const bool done = [] {
        openblas_set_num_threads(1);
        return true;
    }();
    static_cast<void>(done);
}

}  // namespace

std::size_t bytes_of(Element element) {
    return element == Element::fp64 ? 8 : element == Element::fp32 ? 4 : 2;
}

double value_of(const void* element, Element type) {
    if (type == Element::fp64) {
        double value = 0;
        std::memcpy(&value, element, sizeof value);
        return value;
    }
    float value = 0;
    widen(element, type, &value, 1);
    return value;
}

void widen(const void* from, Element type, float* to, long count) {
    switch (type) {
        case Element::bf16:
            return each<std::uint16_t, float>(from, to, count, from_bf16);
        case Element::fp16:
            return each<std::uint16_t, float>(from, to, count, from_fp16);
        case Element::fp32:
            std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
            return;
        case Element::fp64:
            break;
    }
    std::abort();
}

void narrow(const float* from, void* to, Element type, long count) {
    switch (type) {
        case Element::bf16:
            return each<float, std::uint16_t>(from, to, count, to_bf16);
        case Element::fp16:
            return each<float, std::uint16_t>(from, to, count, to_fp16);
        case Element::fp32:
            std::memmove(to, from, static_cast<std::size_t>(count) * sizeof(float));
            return;
        case Element::fp64:
            break;
    }
    std::abort();
}

float tf32(float value) {
    round_inputs(&value, Inputs::tf32, 1);
    return value;
}

Inputs multiplied_as(Inputs inputs, Element a) {
    if (a == Element::fp16 || a == Element::bf16) {
        return a == Element::fp16 ? Inputs::fp16 : Inputs::bf16;
    }
    return inputs == Inputs::tf32 && tf32_is_off() ? Inputs::as_they_are : inputs;
}

void multiply(const Product& p) {
    if (p.m == 0 || p.n == 0) {
        return;
    }
    if (p.inputs == Inputs::tf32 && multiplied_as(p.inputs, p.a.element) == Inputs::as_they_are) {
        Product exact = p;
        exact.inputs = Inputs::as_they_are;
        multiply(exact);
        return;
    }
    use_one_core();
    if (p.d_element == Element::fp64) {
        multiply_doubles(p);
        return;
    }
    const auto at = [](const void* data, Element element, long index) {
        return static_cast<const char*>(data) + index * static_cast<long>(bytes_of(element));
    };
    const bool in_place = p.d_element == Element::fp32;
    std::vector<float> room(in_place ? 0 : static_cast<std::size_t>(p.m * p.n));
    float* const values = in_place ? static_cast<float*>(p.d) : room.data();
    const long ld = in_place ? p.ldd : p.m;
    if (p.beta != 0 && !(in_place && p.c.data == p.d)) {
        for (long j = 0; j < p.n; j++) {
            widen(at(p.c.data, p.c.element, j * p.c.ld), p.c.element, values + j * ld, p.m);
        }
    }
    accumulate(p, static_cast<float>(p.beta), values, ld);
    if (p.finish) {
        p.finish(values, ld);
    }
    for (long j = 0; j < p.n && !in_place; j++) {
        narrow(values + j * ld, const_cast<char*>(at(p.d, p.d_element, j * p.ldd)), p.d_element, p.m);
    }
}

}  // namespace simt
