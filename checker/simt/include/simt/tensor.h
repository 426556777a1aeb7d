// SPDX-License-Identifier: MIT
//
// Tensor cores: the runtime's functions that checker/ptx.h, the toolkit's mma.h and lowered inline PTX call. A name of a
// shape is that of the PTX ISA, with the types of A and B; _f16_f16 has accumulators of f16 too.
#pragma once
#pragma GCC system_header

#include <cstdint>

#include "bits_of.h"

namespace simt {

enum class MmaShape : std::uint8_t {
    m16n8k4_tf32,
    m16n8k8_tf32,
    m16n8k8_bf16,
    m16n8k16_bf16,
    m16n8k8_f16,
    m16n8k16_f16,
    m16n8k8_f16_f16,
    m16n8k16_f16_f16
};

// The warp computes d = a b + c; each pointer is to the calling lane's registers, and `d` may be `c`. The elements of c
// and d are floats, or with accumulators of f16 two halves in each std::uint32_t.
void mma_sync(MmaShape shape, void* d, const std::uint32_t* a, const std::uint32_t* b, const void* c);

// Returns x rounded to 10 bits of fraction, ties away from zero. A carry out of the fraction is the next exponent.
__attribute__((always_inline)) inline std::uint32_t to_tf32(float x) {
    const auto bits = simt::bit_cast<std::uint32_t>(x);
    if ((bits & 0x7fffffffU) > 0x7f800000U) {
        return 0x7fffffffU;  // NaN
    }
    return (bits + 0x1000U) & 0xffffe000U;
}

}  // namespace simt
