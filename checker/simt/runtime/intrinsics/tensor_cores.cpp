// SPDX-License-Identifier: MIT
//
// mma.sync and ldmatrix, as kernels call them.
#include <fmt/core.h>

#include <algorithm>

#include "checker/simt/include/simt/tensor.h"
#include "checker/simt/runtime/access/access.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/requests/traffic_trace.h"
#include "checker/simt/runtime/tensor/chosen_tensor_core.h"
#include "checker/simt/runtime/tensor/fragments.h"
#include "checker/simt/runtime/threads/scheduler.h"

#define SIMT_SITE __builtin_return_address(0)

namespace simt {
namespace {

constexpr unsigned kAllLanes = 0xffffffff;

// Returns how many of a lane's elements have bits that TF32 does not have.
std::size_t truncated_elements(const MmaInstruction& instruction, const std::uint32_t* a, const std::uint32_t* b) {
    const auto is_truncated = [](std::uint32_t bits) { return (bits & kBelowTf32) != 0; };
    return static_cast<std::size_t>(std::count_if(a, a + instruction.registers_of_a(), is_truncated) +
                                    std::count_if(b, b + instruction.registers_of_b(), is_truncated));
}

}  // namespace

void mma_sync(MmaShape shape, void* d, const std::uint32_t* a, const std::uint32_t* b, const void* c) {
    const ChosenTensorCore& chosen = chosen_tensor_core();
    if (!chosen.core->has(instruction_of(shape).type)) [[unlikely]] {
        calling_lane();
        report(Kind::trap, "", SIMT_SITE, [&] {
            return fmt::format("sm_{}, which SIMT_TENSOR_CORES names, has no {}", chosen.compute_capability,
                               instruction_of(shape).name);
        });
        Scheduler::instance().abandon(cudaErrorLaunchFailure);
    }
    const MmaRegisters registers{.a = a, .b = b, .c = c, .d = d};
    Collective request{.kind = CollectiveKind::mma,
                       .operation = static_cast<std::uint8_t>(shape),
                       .mask = kAllLanes,
                       .site = SIMT_SITE,
                       .registers = &registers};
    if (hot.trace.next != nullptr && instruction_of(shape).type == TensorType::tf32) {
        const std::size_t truncated = truncated_elements(instruction_of(shape), a, b);
        note_in_trace(packed(truncated, TraceKind::truncated, 0), static_cast<const char*>(request.site) - 1);
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
    Collective request{.kind = CollectiveKind::load_matrix,
                       .operation = static_cast<std::uint8_t>(matrices | (transposed ? kTransposed : 0)),
                       .mask = kAllLanes,
                       .value = is_readable ? address : 0,
                       .site = site,
                       .loaded = to};
    Scheduler::instance().collective(request);
}

}  // namespace simt
