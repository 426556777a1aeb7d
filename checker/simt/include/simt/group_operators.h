// SPDX-License-Identifier: MIT
//
// The operators with which the groups' reductions and scans combine values.
#pragma once
#pragma GCC system_header

#include "../cooperative_groups.h"

namespace simt {
struct LeftOfTwo {
    int operator()(int a, int) const;
};
}  // namespace simt

namespace cooperative_groups {

template <class T>
struct plus {
    SIMT_INLINE T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {  // the lesser of both
    SIMT_INLINE T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {  // the greater of both
    SIMT_INLINE T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
    SIMT_INLINE T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
    SIMT_INLINE T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
    SIMT_INLINE T operator()(T a, T b) const { return a ^ b; }
};

template <class Group>
concept SimtGroupOfLanes = requires(const Group& group, simt::LeftOfTwo left) {
    group.simt_reduce(0, left);
};

}  // namespace cooperative_groups
