// SPDX-License-Identifier: MIT
//
// cg::inclusive_scan and cg::exclusive_scan of the values of a tile's or a coalesced group's threads, by rank.
#pragma once
#pragma GCC system_header

#include "../simt/group_updates.h"

namespace simt {

template <class Group, class T, class Operator>
SIMT_INLINE T inclusive_scan(const Group& group, T value, Operator& op, const char* name) {
    const unsigned int rank = group.thread_rank();
    if constexpr (!cooperative_groups::SimtLanes<Group>) {  // of several warps
        const T with = inclusive_scan(group.simt_warp(), value, op, name);
        const T before = group.simt_across_warps(with, 31, [&](const auto& tile, const T& of_warp) {
            return tile.simt_up(inclusive_scan(tile, of_warp, op, name), 1, name);
        });
        return rank < 32 ? with : op(with, before);
    } else {
        for (unsigned int delta = 1; delta < group.num_threads(); delta *= 2) {
            const T before = group.simt_up(value, delta, name);
            if (rank >= delta) {
                value = op(value, before);  // the thread's own operand comes first, as under CUDA
            }
        }
        return value;
    }
}

}  // namespace simt

namespace cooperative_groups {

// Combines the values up to the thread's own, which is included.
template <SimtGroupOfLanes Group, class T, class Operator>
SIMT_INLINE simt::remove_cvref_t<T> inclusive_scan(const Group& group, T&& value, Operator&& op) {
    SIMT_SAME_TYPE(op, value);
    return simt::inclusive_scan(group, static_cast<simt::remove_cvref_t<T>>(value), op, "cg::inclusive_scan");
}
// Combines the values before the thread's own; T() for rank 0.
template <SimtGroupOfLanes Group, class T, class Operator>
SIMT_INLINE simt::remove_cvref_t<T> exclusive_scan(const Group& group, T&& value, Operator&& op) {
    SIMT_SAME_TYPE(op, value);
    using Value = simt::remove_cvref_t<T>;
    const Value with = simt::inclusive_scan(group, static_cast<Value>(value), op, "cg::exclusive_scan");
    const Value before = group.simt_up(with, 1, "cg::exclusive_scan");
    return group.thread_rank() == 0 ? Value() : before;
}

// The same, behind what an atomic held; all of the group's values are added to it.
template <SimtGroupOfLanes Group, class Atomic, class T, class Operator>
requires simt::UpdatedAtomic<Atomic> SIMT_INLINE simt::remove_cvref_t<T> inclusive_scan_update(const Group& group,
                                                                                               Atomic&& atomic,
                                                                                               T&& value,
                                                                                               Operator&& op) {
    SIMT_SAME_TYPE(op, atomic.load());
    const auto with = inclusive_scan(group, value, op);
    return op(simt::updated_by_the_last(group, atomic, with, op), with);
}
template <SimtGroupOfLanes Group, class Atomic, class T, class Operator>
requires simt::UpdatedAtomic<Atomic> SIMT_INLINE simt::remove_cvref_t<T> exclusive_scan_update(const Group& group,
                                                                                               Atomic&& atomic,
                                                                                               T&& value,
                                                                                               Operator&& op) {
    SIMT_SAME_TYPE(op, atomic.load());
    using Value = simt::remove_cvref_t<T>;
    const Value with = inclusive_scan(group, value, op);
    const Value before = group.simt_up(with, 1, "cg::exclusive_scan_update");
    const Value old = simt::updated_by_the_last(group, atomic, with, op);
    if (group.thread_rank() == 0) {
        return SimtLanes<Group> ? op(old, Value()) : old;  // CUDA makes this difference
    }
    return op(old, before);
}

template <class Group, class T>
SIMT_INLINE simt::remove_cvref_t<T> inclusive_scan(const Group& group, T&& value) {
    return inclusive_scan(group, value, plus<simt::remove_cvref_t<T>>());
}
template <class Group, class T>
SIMT_INLINE simt::remove_cvref_t<T> exclusive_scan(const Group& group, T&& value) {
    return exclusive_scan(group, value, plus<simt::remove_cvref_t<T>>());
}
template <class Group, class Atomic, class T>
requires simt::UpdatedAtomic<Atomic> SIMT_INLINE simt::remove_cvref_t<T> inclusive_scan_update(const Group& group,
                                                                                               Atomic&& atomic,
                                                                                               T&& value) {
    return inclusive_scan_update(group, atomic, value, plus<simt::remove_cvref_t<T>>());
}
template <class Group, class Atomic, class T>
requires simt::UpdatedAtomic<Atomic> SIMT_INLINE simt::remove_cvref_t<T> exclusive_scan_update(const Group& group,
                                                                                               Atomic&& atomic,
                                                                                               T&& value) {
    return exclusive_scan_update(group, atomic, value, plus<simt::remove_cvref_t<T>>());
}

SIMT_OF_A_TILE(inclusive_scan)
SIMT_OF_A_TILE(exclusive_scan)

}  // namespace cooperative_groups
