// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/threads/warp_fragments.h"

#include <fmt/core.h>

#include <bit>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/random.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/tensor/chosen_tensor_core.h"
#include "checker/simt/runtime/tensor/fragments.h"
#include "checker/simt/runtime/threads/warp_matrices.h"

namespace simt {
namespace {

// For each slot of a fragment, lane by lane, the element that it holds, counted row by row. Where there are more slots
// than elements, each element has as many.
using Places = std::vector<std::uint16_t>;

const Places& places_of(const WmmaFragment& fragment) {
    using Kind = std::tuple<unsigned, unsigned, unsigned, unsigned, MmaShape>;
    static auto& drawn = *new std::map<Kind, Places>;
    static std::uint64_t launch = 0;
    if (launch != Scheduler::instance().launches()) {
        launch = Scheduler::instance().launches();
        drawn.clear();
    }
    Places& places = drawn[{fragment.use, fragment.m, fragment.n, fragment.k, fragment.type}];
    if (places.empty()) {
        const InRuntime in_runtime;
        const unsigned elements = unsigned{fragment.rows} * fragment.columns;
        Random random(seed() * 0x9e3779b97f4a7c15U + launch * 64 + 8 * drawn.size() + fragment.use);
        for (unsigned slot = 0; slot < fragment.slots * kLanes; slot++) {
            places.push_back(static_cast<std::uint16_t>(slot % elements));
        }
        for (std::size_t i = places.size(); i > 1; i--) { std::swap(places[i - 1], places[random.below(i)]); }
    }
    return places;
}

std::uint32_t element_at(const void* x, unsigned slot, unsigned bytes) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, static_cast<const char*>(x) + slot * bytes, bytes);
    return bits;
}

// Calls `what(lane, slot, element)` for all slots of these lanes.
template <class What>
void for_each_slot(const WmmaFragment& fragment, unsigned lanes, What what) {
    const Places& places = places_of(fragment);
    for (; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
        for (unsigned slot = 0; slot < fragment.slots; slot++) {
            what(lane, slot, places[lane * fragment.slots + slot]);
        }
    }
}

const WmmaTransfer& transfer_of(const Lane& lane) {
    return *static_cast<const WmmaTransfer*>(lane.collective.operands);
}
const WmmaProduct& product_of(const Lane& lane) {
    return *static_cast<const WmmaProduct*>(lane.collective.operands);
}

// Reports lanes that name another matrix in memory than the first one.
void check_transfers(Warp& warp, unsigned together) {
    check_lanes(warp, together);
    Lane& first = warp.lanes[std::countr_zero(together)];
    const WmmaTransfer& its = transfer_of(first);
    for (unsigned lanes = together & (together - 1); lanes != 0; lanes &= lanes - 1) {
        const Lane& other = warp.lanes[std::countr_zero(lanes)];
        const WmmaTransfer& others = transfer_of(other);
        if (others.memory != its.memory || others.stride != its.stride || others.column_major != its.column_major) {
            report_of(first, [&] {
                return fmt::format(
                    "lanes {} and {} hand {} different addresses, strides or layouts: all lanes name one "
                    "matrix",
                    first.number, other.number, name_of_warp_matrix(first.collective));
            });
            return;
        }
    }
}

}  // namespace

void load_fragments(Warp& warp, unsigned together) {
    check_transfers(warp, together);
    const WmmaTransfer& first = transfer_of(warp.lanes[std::countr_zero(together)]);
    const unsigned bytes = first.fragment->bytes;
    for_each_slot(*first.fragment, together, [&](unsigned lane, unsigned slot, unsigned element) {
        const WmmaTransfer& its = transfer_of(warp.lanes[lane]);
        std::memcpy(static_cast<char*>(its.x) + slot * bytes, reinterpret_cast<const void*>(its.address_of(element)),
                    bytes);
    });
}

void store_fragments(Warp& warp, unsigned together) {
    check_transfers(warp, together);
    const WmmaTransfer& first = transfer_of(warp.lanes[std::countr_zero(together)]);
    const unsigned bytes = first.fragment->bytes;
    for_each_slot(*first.fragment, together, [&](unsigned lane, unsigned slot, unsigned element) {
        const WmmaTransfer& its = transfer_of(warp.lanes[lane]);
        std::memcpy(reinterpret_cast<void*>(its.address_of(element)), static_cast<const char*>(its.x) + slot * bytes,
                    bytes);
    });
}

void multiply_wmma(Warp& warp, unsigned together) {
    check_lanes(warp, together);
    Lane& first = warp.lanes[std::countr_zero(together)];
    const WmmaProduct& kinds = product_of(first);
    const unsigned m = kinds.a->m, n = kinds.a->n, k = kinds.a->k;
    constexpr std::size_t kMost = 512;  // elements of A or B, 32 x 16
    std::array<std::uint32_t, kMost> a{}, b{};
    std::array<std::uint32_t, 256> c{};
    std::uint32_t bits = 0;
    for_each_slot(*kinds.a, together, [&](unsigned lane, unsigned slot, unsigned element) {
        bits |= a[element] = element_at(product_of(warp.lanes[lane]).a_x, slot, kinds.a->bytes);
    });
    for_each_slot(*kinds.b, together, [&](unsigned lane, unsigned slot, unsigned element) {  // by columns
        bits |= b[element % n * k + element / n] = element_at(product_of(warp.lanes[lane]).b_x, slot, kinds.b->bytes);
    });
    for_each_slot(*kinds.accumulator, together, [&](unsigned lane, unsigned slot, unsigned element) {
        c[element] = element_at(product_of(warp.lanes[lane]).c_x, slot, kinds.accumulator->bytes);
    });
    const TensorCore& core = *chosen_tensor_core().core;
    const TensorType type = instruction_of(kinds.a->type).type;
    const int rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k);
    if (kinds.accumulator->bytes == 2) {
        std::array<std::uint16_t, 256> halves;
        for (std::size_t i = 0; i < halves.size(); i++) { halves[i] = static_cast<std::uint16_t>(c[i]); }
        multiply_tile_f16(core, rows, columns, depth, a.data(), b.data(), halves.data(), halves.data());
        for (std::size_t i = 0; i < halves.size(); i++) { c[i] = halves[i]; }
    } else {
        std::array<float, 256> floats;
        std::memcpy(floats.data(), c.data(), sizeof floats);
        multiply_tile(core, type, rows, columns, depth, a.data(), b.data(), floats.data(), floats.data());
        std::memcpy(c.data(), floats.data(), sizeof floats);
    }
    for_each_slot(*kinds.accumulator, together, [&](unsigned lane, unsigned slot, unsigned element) {
        const unsigned bytes = kinds.accumulator->bytes;
        std::memcpy(static_cast<char*>(product_of(warp.lanes[lane]).d_x) + slot * bytes, &c[element], bytes);
    });
    if (type == TensorType::tf32 && truncates(bits, a, b)) {
        note_truncated(first);
    }
}

}  // namespace simt
