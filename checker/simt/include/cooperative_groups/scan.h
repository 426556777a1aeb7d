// SPDX-License-Identifier: MIT
//
// cg::inclusive_scan and cg::exclusive_scan of the values of a tile's or a coalesced group's threads, by rank.
#pragma once
#pragma GCC system_header

#include "../simt/group_operators.h"

namespace simt {

template <class Group, class T, class Operator>
SIMT_INLINE T inclusive_scan(const Group& group, T value, Operator& op, const char* name) {
    const unsigned int rank = group.thread_rank();
    for (unsigned int delta = 1; delta < group.num_threads(); delta *= 2) {
        const T before = group.simt_up(value, delta, name);
        if (rank >= delta) {
            value = op(before, value);
        }
    }
    return value;
}

}  // namespace simt

namespace cooperative_groups {

// Combines the values up to the thread's own, which is included.
template <class Group, class T, class Operator>
SIMT_INLINE simt::remove_cvref_t<T> inclusive_scan(const Group& group, T&& value, Operator&& op) {
    static_assert(SimtGroupOfLanes<Group>, "cg::inclusive_scan takes a tile or a coalesced group");
    return simt::inclusive_scan(group, static_cast<simt::remove_cvref_t<T>>(value), op, "cg::inclusive_scan");
}
template <class Group, class T>
SIMT_INLINE simt::remove_cvref_t<T> inclusive_scan(const Group& group, T&& value) {
    return inclusive_scan(group, value, plus<simt::remove_cvref_t<T>>());
}

// Combines the values before the thread's own; T() for rank 0.
template <class Group, class T, class Operator>
SIMT_INLINE simt::remove_cvref_t<T> exclusive_scan(const Group& group, T&& value, Operator&& op) {
    static_assert(SimtGroupOfLanes<Group>, "cg::exclusive_scan takes a tile or a coalesced group");
    using Value = simt::remove_cvref_t<T>;
    const Value with = simt::inclusive_scan(group, static_cast<Value>(value), op, "cg::exclusive_scan");
    const Value before = group.simt_up(with, 1, "cg::exclusive_scan");
    return group.thread_rank() == 0 ? Value() : before;
}
template <class Group, class T>
SIMT_INLINE simt::remove_cvref_t<T> exclusive_scan(const Group& group, T&& value) {
    return exclusive_scan(group, value, plus<simt::remove_cvref_t<T>>());
}

#define SIMT_MISSING(name)  \
    template <class... Any> \
    __attribute__((unavailable(#name " is not on the CPU device"))) void name(const Any&...)
SIMT_MISSING(inclusive_scan_update);
SIMT_MISSING(exclusive_scan_update);
#undef SIMT_MISSING

}  // namespace cooperative_groups
