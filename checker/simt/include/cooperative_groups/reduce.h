// SPDX-License-Identifier: MIT
//
// cg::reduce: makes one value of the values of a tile's or a coalesced group's threads, for all of them.
#pragma once
#pragma GCC system_header

#include "../simt/group_updates.h"

namespace cooperative_groups {

// The operator is associative and commutative. The order of rounding is not stated, as under CUDA.
template <SimtGroupOfLanes Group, class T, class Operator>
SIMT_INLINE simt::remove_cvref_t<T> reduce(const Group& group, T&& value, Operator&& op) {
    SIMT_SAME_TYPE(op, value);
    return group.simt_reduce(static_cast<simt::remove_cvref_t<T>>(value), op);
}
SIMT_OF_A_TILE(reduce)

// One thread of the group changes an atomic by the outcome. The others do not wait for it.
template <SimtGroupOfLanes Group, class Atomic, class T, class Operator>
requires simt::UpdatedAtomic<Atomic> SIMT_INLINE void reduce_update_async(const Group& group, Atomic&& atomic,
                                                                          T&& value, Operator&& op) {
    SIMT_SAME_TYPE(op, atomic.load());
    const auto all = reduce(group, value, op);
    if (group.thread_rank() == 0) {
        simt::update(atomic, all, op);
    }
}
// Or stores it there.
template <SimtGroupOfLanes Group, class Atomic, class T, class Operator>
requires simt::UpdatedAtomic<Atomic> SIMT_INLINE void reduce_store_async(const Group& group, Atomic&& atomic, T&& value,
                                                                         Operator&& op) {
    SIMT_SAME_TYPE(op, atomic.load());
    const auto all = reduce(group, value, op);
    if (group.thread_rank() == 0) {
        atomic.store(all, cuda::memory_order_relaxed);
    }
}

}  // namespace cooperative_groups
