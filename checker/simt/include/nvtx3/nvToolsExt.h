// SPDX-License-Identifier: MIT
//
// Names of ranges for a profiler, which nothing reads here.
#pragma once
#pragma GCC system_header

#include <atomic>

namespace simt {
inline thread_local int nvtx_depth = 0;
inline std::atomic<unsigned long long> nvtx_ranges{0};
}  // namespace simt

using nvtxRangeId_t = unsigned long long;

// Each gives the level of nesting, from 0 on, of the range that it begins or ends; -1 where there is none to end.
inline int nvtxRangePushA(const char*) {
    return simt::nvtx_depth++;
}
inline int nvtxRangePushW(const wchar_t*) {
    return simt::nvtx_depth++;
}
inline int nvtxRangePop() {
    return simt::nvtx_depth == 0 ? -1 : --simt::nvtx_depth;
}
inline void nvtxMarkA(const char*) {}
inline nvtxRangeId_t nvtxRangeStartA(const char*) {
    return ++simt::nvtx_ranges;
}
inline void nvtxRangeEnd(nvtxRangeId_t) {}
#define nvtxRangePush nvtxRangePushA
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
