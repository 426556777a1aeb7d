// SPDX-License-Identifier: MIT
//
// Warp collectives on WMMA's fragments. The place of each element is drawn again for each launch, so that a program that
// relies on one is wrong most of the time.
#pragma once

#include "checker/simt/include/simt/wmma.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {

// A lane's part of a load or a store of a fragment.
struct WmmaTransfer {
    const WmmaFragment* fragment;
    void* x;
    std::uintptr_t memory;
    unsigned stride;
    bool column_major;

    // Returns the address of an element of the matrix, counted row by row.
    std::uintptr_t address_of(unsigned element) const {
        const unsigned row = element / fragment->columns, column = element % fragment->columns;
        return memory + std::size_t{fragment->bytes} *
                            (column_major ? std::size_t{column} * stride + row : std::size_t{row} * stride + column);
    }
};

struct WmmaProduct {
    const WmmaFragment *a, *b, *accumulator;
    const void *a_x, *b_x, *c_x;
    void* d_x;
};

// Perform the collective of the lanes `together`, as multiply() does (warp_matrices.h).
void load_fragments(Warp& warp, unsigned together);
void store_fragments(Warp& warp, unsigned together);
void multiply_wmma(Warp& warp, unsigned together);

}  // namespace simt
