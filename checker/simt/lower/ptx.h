// SPDX-License-Identifier: MIT
//
// Inline PTX that reads special registers, or evaluates an instruction without side effects, becomes an assignment:
//   asm("mov.u32 %0, %%laneid;" : "=r"(lane));       (lane) = ::simt::ptx::laneid();
//   asm("bfind.u32 %0, %1;" : "=r"(bit) : "r"(x));   (bit) = ::simt::ptx::bfind_u32((x));
//   asm("cp.async.wait_group %0;" :: "n"(1));        ::simt::ptx::cp_async_wait_group((1));
// An instruction on matrices becomes a call that gets all operands and the place of each:
//   asm("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(x) : "r"(a));
//   ::simt::ptx::ldmatrix_operands<false, 0, 1, 0>((x), (a));
// All other inline PTX is refused.
#pragma once

#include <string>
#include <vector>

#include "checker/simt/lower/tokens.h"

namespace simt {

// A replacement for [begin, end) of the source, with as many lines.
struct PtxEdit {
    std::size_t begin;
    std::size_t end;
    std::string text;
};

// Returns the edits for the `asm` at tokens[at]. None are needed if the PTX is empty. Throws SourceError if the device
// lacks one of the instructions.
std::vector<PtxEdit> lower_ptx(const Source& source, const std::vector<Token>& tokens, std::size_t at);

}  // namespace simt
