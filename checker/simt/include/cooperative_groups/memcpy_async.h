// SPDX-License-Identifier: MIT
//
// cg::memcpy_async: the threads of a group copy together, and each waits for its own part (CUDA C++ Programming Guide,
// "Cooperative Groups", memcpy_async). What does not go from global to shared memory is copied at once.
#pragma once
#pragma GCC system_header

#include "../cooperative_groups.h"
#include "../simt/async_copies.h"

namespace simt {

// The alignment that a count promises for the addresses: N for cuda::aligned_size_t<N>.
template <class Size>
struct AlignmentOf {
    static constexpr std::size_t value = 1;
};
template <template <std::size_t> class Aligned, std::size_t kAlignment>
struct AlignmentOf<Aligned<kAlignment>> {
    static constexpr std::size_t value = kAlignment;
};

template <class Group>
concept CopyingGroup = std::is_same_v<Group, cooperative_groups::thread_block> || requires(const Group& group) {
    group.simt_mask();
};

template <class T, class Size>
inline constexpr std::size_t copied_alignment = AlignmentOf<Size>::value > alignof(T) ? AlignmentOf<Size>::value
                                                                                      : alignof(T);
template <class Size>
inline constexpr std::size_t copied_alignment<void, Size> = AlignmentOf<Size>::value;

}  // namespace simt

namespace cooperative_groups {

// Issues a copy of so many bytes; for each thread it is one group of copies.
template <class Group, class T, class Size>
SIMT_INLINE void memcpy_async(const Group& group, T* to, const T* from, const Size& bytes) {
    static_assert(simt::CopyingGroup<Group>, "cg::memcpy_async takes a block, a tile or a coalesced group");
    simt::copy_async_part(to, from, static_cast<std::size_t>(bytes), simt::copied_alignment<T, Size>,
                          group.thread_rank(), group.num_threads());
    simt::commit_copies();
}
// Copies the smaller of two numbers of elements.
template <class Group, class T, class To, class From>
SIMT_INLINE void memcpy_async(const Group& group, T* to, const To& to_elements, const T* from,
                              const From& from_elements) {
    static_assert(simt::CopyingGroup<Group>, "cg::memcpy_async takes a block, a tile or a coalesced group");
    const auto there = static_cast<std::size_t>(to_elements);
    const auto here = static_cast<std::size_t>(from_elements);
    simt::copy_async_part(to, from, (there < here ? there : here) * sizeof(T), simt::copied_alignment<T, From>,
                          group.thread_rank(), group.num_threads());
    simt::commit_copies();
}

// Waits until at most so many, the newest, of each thread's copies with the group are on their way; then the threads
// meet.
template <unsigned int Newest, class Group>
SIMT_INLINE void wait_prior(const Group& group) {
    simt::wait_for_copies(Newest);
    group.sync();
}
template <class Group>
SIMT_INLINE void wait(const Group& group) {
    simt::wait_for_copies(0);
    group.sync();
}

}  // namespace cooperative_groups
