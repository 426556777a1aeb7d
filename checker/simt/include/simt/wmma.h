// SPDX-License-Identifier: MIT
//
// WMMA: the runtime's functions that mma.h calls. A fragment's elements lie in the lanes in an order that each launch draws
// again, for each type and shape: CUDA leaves it open (CUDA C++ Programming Guide, "Warp Matrix Functions").
#pragma once
#pragma GCC system_header

#include <cstdint>

#include "judged.h"
#include "tensor.h"

namespace simt {

// A kind of fragment: a matrix of `rows` x `columns` elements of `bytes` bytes, of which each lane holds `slots`.
struct WmmaFragment {
    std::uint8_t use;  // 0: A, 1: B, 2: accumulator
    std::uint8_t m, n, k;
    std::uint8_t rows, columns, bytes, slots;
    MmaShape type;  // the mma.sync of the same types
};

// The warp loads a fragment's elements from memory, or stores them there. `stride`: elements between rows, or columns.
void wmma_load(void* x, const WmmaFragment& fragment, const void* memory, unsigned int stride, bool column_major,
               bool judged = SIMT_JUDGED);
void wmma_store(void* memory, const WmmaFragment& fragment, const void* x, unsigned int stride, bool column_major,
                bool judged = SIMT_JUDGED);

// The warp computes d = a b + c; `accumulator` is the kind of c and d.
void wmma_multiply(const WmmaFragment& a, const WmmaFragment& b, const WmmaFragment& accumulator, void* d_x,
                   const void* a_x, const void* b_x, const void* c_x);

}  // namespace simt
