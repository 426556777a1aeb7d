// SPDX-License-Identifier: MIT
//
// cg::reduce: makes one value of the values of a tile's or a coalesced group's threads, for all of them.
#pragma once
#pragma GCC system_header

#include "../simt/group_operators.h"

namespace cooperative_groups {

// The operator is associative and commutative. The order of rounding is not stated, as under CUDA.
template <class Group, class T, class Operator>
SIMT_INLINE simt::remove_cvref_t<T> reduce(const Group& group, T&& value, Operator&& op) {
    static_assert(SimtGroupOfLanes<Group>, "cg::reduce takes a tile or a coalesced group");
    return group.simt_reduce(static_cast<simt::remove_cvref_t<T>>(value), op);
}

#define SIMT_MISSING(name)  \
    template <class... Any> \
    __attribute__((unavailable(#name " is not on the CPU device"))) void name(const Any&...)
SIMT_MISSING(reduce_update_async);
SIMT_MISSING(reduce_store_async);
#undef SIMT_MISSING

}  // namespace cooperative_groups
