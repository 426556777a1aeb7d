// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/threads/warp_matrices.h"

#include <fmt/core.h>

#include <array>
#include <bit>
#include <cstring>

#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/tensor/chosen_tensor_core.h"
#include "checker/simt/runtime/tensor/fragments.h"
#include "checker/simt/runtime/threads/collectives.h"

namespace simt {
namespace {

constexpr unsigned kAllLanes = 0xffffffff;

// Returns true if both code addresses stand for one instruction of the source: the compiler may have copied it.
bool is_same_instruction(const void* a, const void* b) {
    if (a == b) {
        return true;
    }
    const SourceLine &first = source_of(a), &second = source_of(b);
    return first == second && (first.caller == nullptr) == (second.caller == nullptr) &&
           (first.caller == nullptr || *first.caller == *second.caller);
}

}  // namespace

void report_of(Lane& lane, const std::function<std::string()>& text) {
    Lane* const caller = hot.lane;
    hot.lane = &lane;
    report(Kind::collective, "", lane.collective.site, text);
    hot.lane = caller;
}

void check_lanes(Warp& warp, unsigned together) {
    Lane& first = warp.lanes[std::countr_zero(together)];
    if (together != kAllLanes) {
        report_of(first, [&] {
            const unsigned lane = static_cast<unsigned>(std::countr_one(together));
            return fmt::format(
                "{} takes all 32 lanes of a warp, and {} take part; lane {} {}: the results are undefined",
                name_of(first.collective), std::popcount(together), lane,
                (warp.present >> lane & 1U) == 0 ? "is none of the block's threads" : "has ended");
        });
    }
    for (unsigned lanes = together & (together - 1); lanes != 0; lanes &= lanes - 1) {
        const Lane& other = warp.lanes[std::countr_zero(lanes)];
        if (!is_same_instruction(first.collective.site, other.collective.site)) {
            report_of(first, [&] {
                return fmt::format(
                    "lane {} executes this {}, and lane {} the one at {}: all lanes execute one instruction",
                    first.number, name_of(first.collective), other.number, text_of(source_of(other.collective.site)));
            });
            return;
        }
    }
}

// Only the last place is remembered, so a loop of one instruction asks for its line once.
void note_truncated(const Lane& lane) {
    static const void* noted = nullptr;
    if (hot.checking && lane.collective.site != noted) {
        noted = lane.collective.site;
        note(noted,
             fmt::format("{} gets floats that nobody has rounded to TF32: what TF32 has no bits for is truncated, "
                         "not rounded (cvt.rna.tf32.f32 rounds)",
                         name_of(lane.collective)));
    }
}

const char* name_of_warp_matrix(const Collective& collective) {
    switch (collective.kind) {
        case CollectiveKind::mma:
            return instruction_of(static_cast<MmaShape>(collective.operation)).name;
        case CollectiveKind::wmma_load:
            return "load_matrix_sync";
        case CollectiveKind::wmma_store:
            return "store_matrix_sync";
        case CollectiveKind::wmma_multiply:
            return "wmma::mma_sync";
        default:
            break;
    }
    const bool transposed = (collective.operation & kTransposed) != 0;
    switch (collective.operation & ~kTransposed) {
        case 1:
            return transposed ? "ldmatrix.x1.trans" : "ldmatrix.x1";
        case 2:
            return transposed ? "ldmatrix.x2.trans" : "ldmatrix.x2";
        default:
            return transposed ? "ldmatrix.x4.trans" : "ldmatrix.x4";
    }
}

void multiply(Warp& warp, unsigned together) {
    check_lanes(warp, together);
    LanesOfMma registers{};
    for (unsigned lanes = together; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
        registers[lane] = static_cast<const MmaRegisters*>(warp.lanes[lane].collective.operands);
    }
    const Lane& first = warp.lanes[std::countr_zero(together)];
    if (multiply_fragments(*chosen_tensor_core().core, static_cast<MmaShape>(first.collective.operation), registers)) {
        note_truncated(first);
    }
}

// Row r of matrix j lies at the address that lane 8 j + r gives; lane t gets elements 2 (t % 4) and the next one of row
// t / 4, or of a column if they are transposed.
void load_matrices(Warp& warp, unsigned together) {
    check_lanes(warp, together);
    const unsigned operation = warp.lanes[std::countr_zero(together)].collective.operation;
    const bool transposed = (operation & kTransposed) != 0;
    const auto registers_of = [&](unsigned lane) -> const MatrixRegisters& {
        return *static_cast<const MatrixRegisters*>(warp.lanes[lane].collective.operands);
    };
    for (unsigned matrix = 0; matrix < (operation & ~kTransposed); matrix++) {
        std::uint16_t elements[8][8] = {};
        for (unsigned row = 0; row < 8; row++) {
            const unsigned lane = 8 * matrix + row;
            if ((together >> lane & 1U) != 0 && registers_of(lane).row != 0) {
                std::memcpy(elements[row], reinterpret_cast<const void*>(registers_of(lane).row), sizeof elements[row]);
            }
        }
        for (unsigned lanes = together; lanes != 0; lanes &= lanes - 1) {
            const auto number = static_cast<unsigned>(std::countr_zero(lanes));
            const unsigned outer = number / 4, inner = 2 * (number % 4);
            const std::uint32_t low = transposed ? elements[inner][outer] : elements[outer][inner];
            const std::uint32_t high = transposed ? elements[inner + 1][outer] : elements[outer][inner + 1];
            registers_of(number).to[matrix] = low | high << 16;
        }
    }
}

}  // namespace simt
