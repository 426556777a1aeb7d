// SPDX-License-Identifier: MIT
//
// Tensor cores: the runtime's functions that checker/ptx.h, the toolkit's mma.h and lowered inline PTX call. A name of a
// shape is that of the PTX ISA, with the types of A and B; _f16_f16 has accumulators of f16 too.
#pragma once
#pragma GCC system_header

#include <cstdint>

#include "judged.h"

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

// ldmatrix: loads 1, 2 or 4 matrices of 8 x 8 elements of 16 bits from shared memory, a register of `to` each. Lane
// 8 j + r gives the address of row r of matrix j; of the lanes beyond the last row it is not looked at.
void load_matrix(std::uint32_t* to, unsigned int matrices, bool transposed, const void* row, bool judged = SIMT_JUDGED);

}  // namespace simt
