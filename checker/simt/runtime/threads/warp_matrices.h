// SPDX-License-Identifier: MIT
//
// Warp collectives on matrices: mma.sync and ldmatrix. All 32 lanes take part, in the same instruction.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {

const char* name_of_warp_matrix(const Collective& collective);  // "mma.sync.m16n8k8 (tf32)", "ldmatrix.x4.trans"

// Reports a finding as the lane's.
void report_of(Lane& lane, const std::function<std::string()>& text);
// Reports lanes that are not there, or that have come to another instruction with the same qualifiers.
void check_lanes(Warp& warp, unsigned together);
// Notes, once a place, that an mma of TF32 truncates.
void note_truncated(const Lane& lane);

// A lane's part of ldmatrix.
struct MatrixRegisters {
    std::uintptr_t row;  // 0: none that can be read
    std::uint32_t* to;
};

// Perform the collective of the lanes `together`. A lane that has ended, or that the block does not have, is reported;
// its elements count as 0.
void multiply(Warp& warp, unsigned together);
void load_matrices(Warp& warp, unsigned together);

}  // namespace simt
