// SPDX-License-Identifier: MIT
//
// mma.sync, ldmatrix and WMMA, as kernels call them.
#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "checker/simt/include/simt/tensor.h"
#include "checker/simt/runtime/access/access.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/requests/traffic_trace.h"
#include "checker/simt/runtime/tensor/chosen_tensor_core.h"
#include "checker/simt/runtime/tensor/fragments.h"
#include "checker/simt/runtime/threads/scheduler.h"
#include "checker/simt/runtime/threads/warp_fragments.h"
#include "checker/simt/runtime/threads/warp_matrices.h"

#define SIMT_SITE __builtin_return_address(0)

namespace simt {
namespace {

constexpr unsigned kAllLanes = 0xffffffff;

// Returns how many of a lane's elements have another value in TF32.
std::size_t truncated_elements(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
    return static_cast<std::size_t>(std::ranges::count_if(a, is_truncated) + std::ranges::count_if(b, is_truncated));
}

// Ends the launch if the chosen architecture has no products of these types.
void require_type(MmaShape shape, const void* site) {
    const ChosenTensorCore& chosen = chosen_tensor_core();
    if (chosen.core->has(instruction_of(shape).type)) [[likely]] {
        return;
    }
    calling_lane();
    report(Kind::trap, "", site, [&] {
        return fmt::format("sm_{}, which SIMT_TENSOR_CORES names, has no {}", chosen.compute_capability,
                           instruction_of(shape).name);
    });
    Scheduler::instance().abandon(cudaErrorLaunchFailure);
}

void note_truncated_elements(std::size_t count, const void* site) {
    note_in_trace(packed(count, TraceKind::truncated, 0), static_cast<const char*>(site) - 1);
}

// Judges the calling lane's share of a fragment in memory: pieces of at most 16 bytes, side by side.
void judge_transfer(const WmmaTransfer& transfer, Access access, const void* site) {
    const WmmaFragment& fragment = *transfer.fragment;
    constexpr std::size_t kAddress = 32, kStride = 16, kWidest = 16;
    if (transfer.memory % kAddress != 0 || std::size_t{transfer.stride} * fragment.bytes % kStride != 0) {
        report(Kind::misaligned, "", site, [&] {
            return fmt::format(
                "a matrix at a multiple of {} bytes with a stride of {} bytes: wmma needs an address that is a "
                "multiple of 32 bytes and a stride that is one of 16",
                std::min(transfer.memory & -transfer.memory, kAddress), std::size_t{transfer.stride} * fragment.bytes);
        });
        Scheduler::instance().abandon(cudaErrorMisalignedAddress);
    }
    const unsigned elements = unsigned{fragment.rows} * fragment.columns;
    const std::size_t share = std::size_t{elements} * fragment.bytes / kLanes, piece = std::min(share, kWidest);
    const unsigned per_piece = static_cast<unsigned>(piece) / fragment.bytes;
    const unsigned inner = transfer.column_major ? fragment.rows : fragment.columns;
    for (unsigned i = calling_lane().number; i * per_piece < elements; i += kLanes) {
        const std::size_t outer = i * per_piece / inner;
        const std::uintptr_t address =
            transfer.memory + fragment.bytes * (outer * transfer.stride + i * per_piece % inner);
        judge_span(reinterpret_cast<const void*>(address), piece, access, site, piece);
    }
}

void transfer(CollectiveKind kind, const WmmaTransfer& transfer, bool judged, const void* site) {
    calling_lane();
    if (judged && hot.checking) {
        judge_transfer(transfer, kind == CollectiveKind::wmma_load ? Access::read : Access::write, site);
    }
    Collective request{.kind = kind, .mask = kAllLanes, .site = site, .operands = &transfer};
    Scheduler::instance().collective(request);
}

}  // namespace

void mma_sync(MmaShape shape, void* d, const std::uint32_t* a, const std::uint32_t* b, const void* c) {
    require_type(shape, SIMT_SITE);
    const MmaRegisters registers{.a = a, .b = b, .c = c, .d = d};
    Collective request{.kind = CollectiveKind::mma,
                       .operation = static_cast<std::uint8_t>(shape),
                       .mask = kAllLanes,
                       .site = SIMT_SITE,
                       .operands = &registers};
    if (hot.trace.next != nullptr && instruction_of(shape).type == TensorType::tf32) {
        const MmaInstruction& instruction = instruction_of(shape);
        const std::span its_a(a, static_cast<std::size_t>(instruction.registers_of_a()));
        const std::span its_b(b, static_cast<std::size_t>(instruction.registers_of_b()));
        note_truncated_elements(truncated_elements(its_a, its_b), request.site);
    }
    Scheduler::instance().collective(request);
}

void load_matrix(std::uint32_t* to, unsigned int matrices, bool transposed, const void* row, bool judged) {
    const void* const site = SIMT_SITE;
    const auto address = reinterpret_cast<std::uintptr_t>(row);
    bool is_readable = calling_lane().number < 8 * matrices;
    if (is_readable && judged && hot.checking) {
        is_readable = judge_matrix_row(address, site);
    }
    const MatrixRegisters registers{.row = is_readable ? address : 0, .to = to};
    Collective request{.kind = CollectiveKind::load_matrix,
                       .operation = static_cast<std::uint8_t>(matrices | (transposed ? kTransposed : 0)),
                       .mask = kAllLanes,
                       .site = site,
                       .operands = &registers};
    Scheduler::instance().collective(request);
}

void wmma_load(void* x, const WmmaFragment& fragment, const void* memory, unsigned int stride, bool column_major,
               bool judged) {
    transfer(CollectiveKind::wmma_load, {&fragment, x, reinterpret_cast<std::uintptr_t>(memory), stride, column_major},
             judged, SIMT_SITE);
}

void wmma_store(void* memory, const WmmaFragment& fragment, const void* x, unsigned int stride, bool column_major,
                bool judged) {
    transfer(CollectiveKind::wmma_store,
             {&fragment, const_cast<void*>(x), reinterpret_cast<std::uintptr_t>(memory), stride, column_major}, judged,
             SIMT_SITE);
}

void wmma_multiply(const WmmaFragment& a, const WmmaFragment& b, const WmmaFragment& accumulator, void* d_x,
                   const void* a_x, const void* b_x, const void* c_x) {
    require_type(a.type, SIMT_SITE);
    const WmmaProduct product{&a, &b, &accumulator, a_x, b_x, c_x, d_x};
    const MmaShape shape = accumulator.bytes == 2 ? MmaShape::m16n8k16_f16_f16 : a.type;
    Collective request{.kind = CollectiveKind::wmma_multiply,
                       .operation = static_cast<std::uint8_t>(shape),
                       .mask = kAllLanes,
                       .site = SIMT_SITE,
                       .operands = &product};
    if (hot.trace.next != nullptr && shape == MmaShape::m16n8k8_tf32) {
        const std::span its_a(static_cast<const std::uint32_t*>(a_x), a.slots);
        const std::span its_b(static_cast<const std::uint32_t*>(b_x), b.slots);
        note_truncated_elements(truncated_elements(its_a, its_b), request.site);
    }
    Scheduler::instance().collective(request);
}

}  // namespace simt
