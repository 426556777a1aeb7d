// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/threads/collectives.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "checker/simt/include/simt/warp.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/threads/warp_fragments.h"
#include "checker/simt/runtime/threads/warp_matrices.h"

namespace simt {
namespace {

// The lane that a shuffle reads: the lane itself if CUDA says that it keeps its own value.
unsigned source_lane(const Collective& request, unsigned lane) {
    const auto width = static_cast<unsigned>(request.width);
    const unsigned first = lane & ~(width - 1);
    const auto operand = static_cast<unsigned>(request.operand);
    switch (static_cast<Shuffle>(request.operation)) {
        case Shuffle::index:
            return first + (operand & (width - 1));
        case Shuffle::up:
            return operand > lane - first ? lane : lane - operand;
        case Shuffle::down:
            return operand >= first + width - lane ? lane : lane + operand;
        case Shuffle::exclusive_or: {
            const unsigned source = lane ^ operand;
            return source >= first + width ? lane : source;  // it may read earlier groups, but not later ones
        }
    }
    return lane;
}

void shuffle(Warp& warp, unsigned together) {
    for (unsigned lanes = together; lanes != 0; lanes &= lanes - 1) {
        Lane& lane = warp.lanes[std::countr_zero(lanes)];
        Collective& request = lane.collective;
        const unsigned source = source_lane(request, lane.number);
        if (source < kLanes && (together >> source & 1U) != 0) {
            request.result = warp.lanes[source].collective.value;
            continue;
        }
        request.result = request.value;
        Lane* const caller = hot.lane;
        hot.lane = &lane;
        report(Kind::collective, "", request.site, [&] {
            const char* why = source >= kLanes                     ? "is no lane of a warp"
                              : (warp.present >> source & 1U) == 0 ? "the block does not have"
                              : (request.mask >> source & 1U) == 0 ? "is not in the mask"
                                                                   : "ended without coming to this call";
            return fmt::format("{} reads lane {}, which {}: its value is undefined", name_of(request), source, why);
        });
        hot.lane = caller;
    }
}

template <class T>
T reduced(Reduce operation, T a, T b) {
    switch (operation) {
        case Reduce::add:
            return static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
        case Reduce::minimum:
            return std::min(a, b);
        case Reduce::maximum:
            return std::max(a, b);
        case Reduce::bit_and:
            return a & b;
        case Reduce::bit_or:
            return a | b;
        case Reduce::bit_xor:
            return a ^ b;
    }
    return a;
}

const char* name_of(Shuffle operation) {
    switch (operation) {
        case Shuffle::index:
            return "__shfl_sync";
        case Shuffle::up:
            return "__shfl_up_sync";
        case Shuffle::down:
            return "__shfl_down_sync";
        case Shuffle::exclusive_or:
            return "__shfl_xor_sync";
    }
    return "a shuffle";
}

const char* name_of(Reduce operation) {
    switch (operation) {
        case Reduce::add:
            return "__reduce_add_sync";
        case Reduce::minimum:
            return "__reduce_min_sync";
        case Reduce::maximum:
            return "__reduce_max_sync";
        case Reduce::bit_and:
            return "__reduce_and_sync";
        case Reduce::bit_or:
            return "__reduce_or_sync";
        case Reduce::bit_xor:
            return "__reduce_xor_sync";
    }
    return "a reduction";
}

}  // namespace

const char* name_of(const Collective& collective) {
    if (collective.name != nullptr) {
        return collective.name;
    }
    switch (collective.kind) {
        case CollectiveKind::sync:
            return "__syncwarp";
        case CollectiveKind::shuffle:
            return name_of(static_cast<Shuffle>(collective.operation));
        case CollectiveKind::ballot:
            return "__ballot_sync";
        case CollectiveKind::any:
            return "__any_sync";
        case CollectiveKind::all:
            return "__all_sync";
        case CollectiveKind::match_any:
            return "__match_any_sync";
        case CollectiveKind::match_all:
            return "__match_all_sync";
        case CollectiveKind::reduce_unsigned:
        case CollectiveKind::reduce_signed:
            return name_of(static_cast<Reduce>(collective.operation));
        case CollectiveKind::mma:
        case CollectiveKind::load_matrix:
        case CollectiveKind::wmma_load:
        case CollectiveKind::wmma_store:
        case CollectiveKind::wmma_multiply:
            return name_of_warp_matrix(collective);
    }
    return "a warp collective";
}

unsigned lanes_in(const Warp& warp, const Collective& call) {
    unsigned together = 0;
    for (unsigned lanes = warp.at_collective; lanes != 0; lanes &= lanes - 1) {
        const Lane& lane = warp.lanes[std::countr_zero(lanes)];
        const Collective& other = lane.collective;
        const bool same = other.mask == call.mask && other.kind == call.kind && other.operation == call.operation;
        together |= same ? 1U << lane.number : 0;
    }
    return together;
}

void exchange(Warp& warp, unsigned together) {
    const auto each = [&](auto&& what) {
        for (unsigned lanes = together; lanes != 0; lanes &= lanes - 1) { what(warp.lanes[std::countr_zero(lanes)]); }
    };
    const Collective& first = warp.lanes[std::countr_zero(together)].collective;
    switch (first.kind) {
        case CollectiveKind::sync:
            break;
        case CollectiveKind::shuffle:
            shuffle(warp, together);
            break;
        case CollectiveKind::ballot:
        case CollectiveKind::any:
        case CollectiveKind::all: {
            unsigned ballot = 0;
            each([&](const Lane& lane) { ballot |= lane.collective.value != 0 ? 1U << lane.number : 0; });
            const std::uint64_t outcome = first.kind == CollectiveKind::ballot ? ballot
                                          : first.kind == CollectiveKind::any  ? (ballot != 0 ? 1U : 0U)
                                                                               : (ballot == together ? 1U : 0U);
            each([&](Lane& lane) { lane.collective.result = outcome; });
            break;
        }
        case CollectiveKind::match_any:
            each([&](Lane& lane) {
                lane.collective.result = 0;
                each([&](const Lane& other) {
                    lane.collective.result |= other.collective.value == lane.collective.value ? 1U << other.number : 0U;
                });
            });
            break;
        case CollectiveKind::match_all: {
            bool same = true;
            each([&](const Lane& lane) { same = same && lane.collective.value == first.value; });
            const unsigned mask = first.mask;
            each([&](Lane& lane) {
                lane.collective.result = same ? mask : 0U;
                lane.collective.predicate = same ? 1 : 0;
            });
            break;
        }
        case CollectiveKind::reduce_unsigned:
        case CollectiveKind::reduce_signed: {
            const auto operation = static_cast<Reduce>(first.operation);
            auto outcome = static_cast<unsigned>(first.value);
            each([&](const Lane& lane) {
                const auto value = static_cast<unsigned>(lane.collective.value);
                if (&lane.collective == &first) {
                    return;
                }
                outcome =
                    first.kind == CollectiveKind::reduce_signed
                        ? static_cast<unsigned>(reduced(operation, static_cast<int>(outcome), static_cast<int>(value)))
                        : reduced(operation, outcome, value);
            });
            each([&](Lane& lane) { lane.collective.result = outcome; });
            break;
        }
        case CollectiveKind::mma:
            multiply(warp, together);
            break;
        case CollectiveKind::load_matrix:
            load_matrices(warp, together);
            break;
        case CollectiveKind::wmma_load:
            load_fragments(warp, together);
            break;
        case CollectiveKind::wmma_store:
            store_fragments(warp, together);
            break;
        case CollectiveKind::wmma_multiply:
            multiply_wmma(warp, together);
            break;
    }
}

}  // namespace simt
