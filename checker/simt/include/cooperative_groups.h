// SPDX-License-Identifier: MIT
//
// Cooperative groups: named sets of threads that wait for each other and exchange values. Groups within a warp are masks
// of lanes, and what they do is a warp collective, held to the same rules (simt/warp.h).
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <type_traits>
#include <utility>

#include "cuda_runtime.h"
#include "simt/bits_of.h"
#include "simt/group_functions.h"

namespace simt {

SIMT_INLINE unsigned int rank_in_block() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
SIMT_INLINE unsigned int own_lane() {
    return rank_in_block() % 32U;
}
SIMT_INLINE unsigned int lanes_before(unsigned int lane) {
    return (1U << lane) - 1U;
}
// The lane of a rank in a mask that has it.
SIMT_INLINE unsigned int lane_of_rank(unsigned int mask, unsigned int rank) {
    for (; rank > 0; rank--) { mask &= mask - 1U; }
    return static_cast<unsigned int>(simt::countr_zero(mask));
}
// Bit r of the result is the bit of the mask's r-th lane.
SIMT_INLINE unsigned int packed(unsigned int mask, unsigned int lanes) {
    unsigned int result = 0;
    for (unsigned int rank = 0; mask != 0; rank++, mask &= mask - 1U) {
        result |= (lanes >> simt::countr_zero(mask) & 1U) << rank;
    }
    return result;
}
// The lanes of the mask whose ranks lie in a part of so many threads.
SIMT_INLINE unsigned int part_of(unsigned int mask, unsigned int part, unsigned int threads) {
    unsigned int result = 0;
    for (unsigned int rank = 0; mask != 0; rank++, mask &= mask - 1U) {
        result |= rank / threads == part ? mask & (0U - mask) : 0U;
    }
    return result;
}

// A shuffle of any value that may be copied as bytes.
template <class T>
SIMT_INLINE T shuffle_value(Shuffle kind, unsigned int mask, const T& value, unsigned int operand, int width,
                            const char* name) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 32,
                  "a group exchanges values of at most 32 bytes that may be copied as bytes");
    std::uint64_t words[(sizeof(T) + 7) / 8] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    unsigned int bytes = sizeof(T);
    for (std::uint64_t& word : words) {
        word = shuffle(kind, mask, word, bytes < 8 ? bytes : 8, static_cast<int>(operand), width, name);
        bytes -= 8;
    }
    T result = value;
    __builtin_memcpy(&result, words, sizeof(T));
    return result;
}

}  // namespace simt

namespace cooperative_groups {

enum class simt_kind : unsigned int { block, grid, lanes };

// Any group; its kind is known when the kernel runs.
class thread_group {
  public:
    SIMT_INLINE void sync() const {
        switch (kind_) {
            case simt_kind::block:
                return __syncthreads();
            case simt_kind::grid:
                return simt::sync_grid();
            case simt_kind::lanes:
                return simt::sync_group(mask_);
        }
    }
    SIMT_INLINE unsigned long long num_threads() const {
        const auto block = blockDim.x * blockDim.y * blockDim.z;
        return kind_ == simt_kind::lanes   ? static_cast<unsigned long long>(simt::popcount(mask_))
               : kind_ == simt_kind::block ? block
                                           : 1ULL * block * gridDim.x * gridDim.y * gridDim.z;
    }
    SIMT_INLINE unsigned long long size() const { return num_threads(); }
    SIMT_INLINE unsigned long long thread_rank() const {
        const unsigned int rank = simt::rank_in_block();
        if (kind_ == simt_kind::lanes) {
            return static_cast<unsigned long long>(simt::popcount(mask_ & simt::lanes_before(rank % 32U)));
        }
        const auto block = (1ULL * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
        return kind_ == simt_kind::block ? rank : block * blockDim.x * blockDim.y * blockDim.z + rank;
    }

  protected:
    SIMT_INLINE explicit thread_group(simt_kind kind, unsigned int mask = 0) : kind_(kind), mask_(mask) {}

    simt_kind kind_;
    unsigned int mask_;  // of lanes

    friend thread_group tiled_partition(const thread_group& parent, unsigned int threads);
    template <unsigned int, class>
    friend class thread_block_tile;
};

class thread_block : public thread_group {
  public:
    SIMT_INLINE static void sync() { __syncthreads(); }
    SIMT_INLINE static unsigned int num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    SIMT_INLINE static unsigned int size() { return num_threads(); }
    SIMT_INLINE static unsigned int thread_rank() { return simt::rank_in_block(); }
    SIMT_INLINE static dim3 group_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
    SIMT_INLINE static dim3 thread_index() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
    SIMT_INLINE static dim3 dim_threads() { return {blockDim.x, blockDim.y, blockDim.z}; }
    SIMT_INLINE static dim3 group_dim() { return dim_threads(); }
    // A barrier in two steps: what was done before the one is ordered before what follows the other.
    class arrival_token {
        friend class thread_block;
        SIMT_INLINE explicit arrival_token(unsigned int phase) : phase_(phase) {}
        unsigned int phase_;
    };
    [[nodiscard]] SIMT_INLINE static arrival_token barrier_arrive() { return arrival_token(simt::barrier_arrive()); }
    SIMT_INLINE static void barrier_wait(arrival_token&& arrived) { simt::barrier_wait(arrived.phase_); }

  private:
    SIMT_INLINE thread_block() : thread_group(simt_kind::block) {}
    friend thread_block this_thread_block();
};

SIMT_INLINE thread_block this_thread_block() {
    return {};
}

// Shared memory in which tiles of more than a warp exchange values on a GPU.
template <unsigned int Threads = 1024>
struct block_tile_memory {
    char bytes[Threads / 32 * 32];
};
template <unsigned int Threads>
SIMT_INLINE thread_block this_thread_block(block_tile_memory<Threads>&) {
    if (thread_block::num_threads() > Threads) {
        simt::too_little_tile_memory(Threads, thread_block::num_threads());
    }
    return this_thread_block();
}

class grid_group : public thread_group {
  public:
    // Whether sync() may be called: the launch is cooperative.
    SIMT_INLINE bool is_valid() const { return simt::launched_together(); }
    SIMT_INLINE void sync() const { simt::sync_grid(); }
    SIMT_INLINE static unsigned long long num_blocks() { return 1ULL * gridDim.x * gridDim.y * gridDim.z; }
    SIMT_INLINE static unsigned long long block_rank() {
        return (1ULL * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    SIMT_INLINE static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
    SIMT_INLINE static unsigned long long size() { return num_threads(); }
    SIMT_INLINE static unsigned long long thread_rank() {
        return block_rank() * thread_block::num_threads() + simt::rank_in_block();
    }
    SIMT_INLINE static dim3 dim_blocks() { return {gridDim.x, gridDim.y, gridDim.z}; }
    SIMT_INLINE static dim3 group_dim() { return dim_blocks(); }
    SIMT_INLINE static dim3 dim_threads() {
        return {gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z};
    }
    SIMT_INLINE static dim3 block_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
    SIMT_INLINE static dim3 thread_index() {
        return {blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                blockIdx.z * blockDim.z + threadIdx.z};
    }
    __attribute__((unavailable("barrier_arrive is not on the CPU device"))) void barrier_arrive() const;
    __attribute__((unavailable("barrier_wait is not on the CPU device"))) void barrier_wait() const;

  private:
    SIMT_INLINE grid_group() : thread_group(simt_kind::grid) {}
    friend grid_group this_grid();
};

SIMT_INLINE grid_group this_grid() {
    return {};
}

struct cluster_group;
__attribute__((unavailable("clusters are not on the CPU device"))) cluster_group this_cluster();

// Some lanes of a warp, ranked by their numbers.
class coalesced_group : public thread_group {
  public:
    SIMT_INLINE void sync() const { simt::sync_group(mask_); }
    SIMT_INLINE unsigned int num_threads() const { return static_cast<unsigned int>(simt::popcount(mask_)); }
    SIMT_INLINE unsigned int size() const { return num_threads(); }
    SIMT_INLINE unsigned int thread_rank() const {
        return static_cast<unsigned int>(simt::popcount(mask_ & simt::lanes_before(simt::own_lane())));
    }
    SIMT_INLINE unsigned int meta_group_rank() const { return meta_rank_; }
    SIMT_INLINE unsigned int meta_group_size() const { return meta_size_; }

    // To read from a rank that the group does not have is a finding.
    template <class T>
    SIMT_INLINE T shfl(T value, unsigned int rank) const {
        return from_rank(value, rank, "a group's shfl()");
    }
    // A thread whose source is beyond either end keeps its own value.
    template <class T>
    SIMT_INLINE T shfl_up(T value, unsigned int delta) const {
        return simt_up(value, delta, "a group's shfl_up()");
    }
    template <class T>
    SIMT_INLINE T shfl_down(T value, unsigned int delta) const {
        return simt_down(value, delta, "a group's shfl_down()");
    }
    SIMT_INLINE int any(int predicate) const { return simt::group_any(mask_, predicate); }
    SIMT_INLINE int all(int predicate) const { return simt::group_all(mask_, predicate); }
    SIMT_INLINE unsigned int ballot(int predicate) const {
        return simt::packed(mask_, simt::group_ballot(mask_, predicate));
    }
    template <class T>
    SIMT_INLINE unsigned int match_any(T value) const {
        return simt::packed(mask_, simt::match_any(mask_, simt::to_bits(value), "a group's match_any()"));
    }
    template <class T>
    SIMT_INLINE unsigned int match_all(T value, int& same) const {
        return simt::packed(mask_, simt::match_all(mask_, simt::to_bits(value), &same, "a group's match_all()"));
    }

    SIMT_INLINE coalesced_group simt_part(unsigned int mask, unsigned int rank, unsigned int groups) const {
        return {mask, rank, groups};
    }
    SIMT_INLINE unsigned int simt_mask() const { return mask_; }
    template <class T>
    SIMT_INLINE T simt_up(const T& value, unsigned int delta, const char* name) const {
        const unsigned int rank = thread_rank();
        return from_rank(value, delta > rank ? rank : rank - delta, name);
    }
    template <class T>
    SIMT_INLINE T simt_down(const T& value, unsigned int delta, const char* name) const {
        const unsigned int rank = thread_rank();
        return from_rank(value, delta >= num_threads() - rank ? rank : rank + delta, name);
    }
    template <class T, class Operator>
    SIMT_INLINE T simt_reduce(T value, Operator&& op) const {
        const unsigned int threads = num_threads();
        for (unsigned int offset = simt::bit_ceil(threads) / 2; offset > 0; offset /= 2) {
            const T other = simt_down(value, offset, "cg::reduce");
            if (thread_rank() < offset && thread_rank() + offset < threads) {
                value = op(value, other);
            }
        }
        return from_rank(value, 0, "cg::reduce");
    }

  private:
    SIMT_INLINE coalesced_group(unsigned int mask, unsigned int meta_rank = 0, unsigned int meta_size = 1)
        : thread_group(simt_kind::lanes, mask), meta_rank_(meta_rank), meta_size_(meta_size) {}

    template <class T>
    SIMT_INLINE T from_rank(const T& value, unsigned int rank, const char* name) const {
        if (rank >= num_threads()) {
            simt::no_such_rank(rank, num_threads());
            rank = thread_rank();
        }
        return simt::shuffle_value(simt::Shuffle::index, mask_, value, simt::lane_of_rank(mask_, rank), 32, name);
    }

    unsigned int meta_rank_, meta_size_;

    friend coalesced_group coalesced_threads();
    template <unsigned int, class>
    friend class thread_block_tile;
};

// The lanes of the warp that run together here.
SIMT_INLINE coalesced_group coalesced_threads() {
    return {__activemask()};
}

// Which of its parent's tiles of `Size` threads a tile is, and which thread of it runs here.
template <unsigned int Size>
class simt_tile_place {
  public:
    SIMT_INLINE static constexpr unsigned int num_threads() { return Size; }
    SIMT_INLINE static constexpr unsigned int size() { return Size; }
    SIMT_INLINE static unsigned int thread_rank() { return simt::rank_in_block() % Size; }
    SIMT_INLINE unsigned int meta_group_rank() const { return meta_rank_; }
    SIMT_INLINE unsigned int meta_group_size() const { return meta_size_; }

  protected:
    SIMT_INLINE simt_tile_place(unsigned int meta_rank, unsigned int meta_size)
        : meta_rank_(meta_rank), meta_size_(meta_size) {}

  private:
    unsigned int meta_rank_, meta_size_;
};

// `Size` consecutive threads: 1, 2, 4, 8, 16 or 32; tiles of more are below.
template <unsigned int Size, class Parent = void>
class thread_block_tile : public simt_tile_place<Size> {
    static_assert(Size != 0 && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 or 1024 threads");

  public:
    using simt_tile_place<Size>::thread_rank;

    // A tile forgets its parent: thread_block_tile<32> is every tile of 32.
    template <class Other>
    SIMT_INLINE thread_block_tile(const thread_block_tile<Size, Other>& other) requires std::is_void_v<Parent>
        : simt_tile_place<Size>(other.meta_group_rank(), other.meta_group_size()) {}

    SIMT_INLINE operator thread_group() const { return thread_group(simt_kind::lanes, simt_mask()); }

    SIMT_INLINE static void sync() { simt::sync_group(simt_mask()); }

    template <class T>
    SIMT_INLINE T shfl(T value, int rank) const {
        return shuffled(simt::Shuffle::index, value, static_cast<unsigned int>(rank), "a tile's shfl()");
    }
    template <class T>
    SIMT_INLINE T shfl_up(T value, unsigned int delta) const {
        return shuffled(simt::Shuffle::up, value, delta, "a tile's shfl_up()");
    }
    template <class T>
    SIMT_INLINE T shfl_down(T value, unsigned int delta) const {
        return shuffled(simt::Shuffle::down, value, delta, "a tile's shfl_down()");
    }
    template <class T>
    SIMT_INLINE T shfl_xor(T value, unsigned int ranks) const {
        return shuffled(simt::Shuffle::exclusive_or, value, ranks, "a tile's shfl_xor()");
    }
    SIMT_INLINE int any(int predicate) const { return simt::group_any(simt_mask(), predicate); }
    SIMT_INLINE int all(int predicate) const { return simt::group_all(simt_mask(), predicate); }
    SIMT_INLINE unsigned int ballot(int predicate) const { return low(simt::group_ballot(simt_mask(), predicate)); }
    template <class T>
    SIMT_INLINE unsigned int match_any(T value) const {
        return low(simt::match_any(simt_mask(), simt::to_bits(value), "a tile's match_any()"));
    }
    template <class T>
    SIMT_INLINE unsigned int match_all(T value, int& same) const {
        return low(simt::match_all(simt_mask(), simt::to_bits(value), &same, "a tile's match_all()"));
    }

    SIMT_INLINE static unsigned int simt_mask() { return (Size == 32 ? ~0U : (1U << Size % 32U) - 1U) << first_lane(); }
    SIMT_INLINE static coalesced_group simt_part(unsigned int mask, unsigned int rank, unsigned int groups) {
        return {mask, rank, groups};
    }
    template <class T>
    SIMT_INLINE T simt_up(const T& value, unsigned int delta, const char* name) const {
        return shuffled(simt::Shuffle::up, value, delta, name);
    }
    // The thread's own operand comes first, as under CUDA: an operator that is not commutative gives each thread a
    // result of its own.
    template <class T, class Operator>
    SIMT_INLINE T simt_reduce(T value, Operator&& op) const {
        for (unsigned int ranks = Size / 2; ranks > 0; ranks /= 2) {
            value = op(value, shuffled(simt::Shuffle::exclusive_or, value, ranks, "cg::reduce"));
        }
        return value;
    }

  private:
    SIMT_INLINE thread_block_tile(unsigned int meta_rank, unsigned int meta_size)
        : simt_tile_place<Size>(meta_rank, meta_size) {}

    SIMT_INLINE static unsigned int first_lane() { return simt::own_lane() / Size * Size; }
    SIMT_INLINE static unsigned int low(unsigned int lanes) { return lanes >> first_lane(); }
    template <class T>
    SIMT_INLINE static T shuffled(simt::Shuffle kind, const T& value, unsigned int operand, const char* name) {
        return simt::shuffle_value(kind, simt_mask(), value, operand, static_cast<int>(Size), name);
    }

    template <unsigned int S>
    friend thread_block_tile<S, thread_block> tiled_partition(const thread_block& parent);
    template <unsigned int S, unsigned int P, class G>
    friend thread_block_tile<S, thread_block_tile<P, G>> tiled_partition(const thread_block_tile<P, G>& parent);
    friend thread_block_tile<1> this_thread();
    template <unsigned int, class>
    friend class thread_block_tile;
};

// A tile of several warps. Its threads meet, and exchange values there.
template <unsigned int Size, class Parent>
requires(Size > 32 && Size <= 1024 && (Size & (Size - 1)) == 0) class thread_block_tile<Size, Parent>
    : public simt_tile_place<Size> {
  public:
    using simt_tile_place<Size>::thread_rank;

    template <class Other>
    SIMT_INLINE thread_block_tile(const thread_block_tile<Size, Other>& other) requires std::is_void_v<Parent>
        : simt_tile_place<Size>(other.meta_group_rank(), other.meta_group_size()) {}

    SIMT_INLINE static void sync() { simt::meet_tile(Size); }

    template <class T>
    SIMT_INLINE T shfl(T value, unsigned int rank) const {
        return of(simt_exchange(value), rank % Size, value);
    }
    SIMT_INLINE int any(int predicate) const { return simt_reduce(predicate != 0 ? 1 : 0, Or()); }
    SIMT_INLINE int all(int predicate) const { return simt_reduce(predicate != 0 ? 1 : 0, And()); }

    // A thread of a rank below delta keeps its own value.
    template <class T>
    SIMT_INLINE T simt_up(const T& value, unsigned int delta, const char*) const {
        const unsigned int rank = thread_rank();
        return of(simt_exchange(value), delta > rank ? rank : rank - delta, value);
    }
    // As many threads as there are warps take what the lane `from` of each warp has, change it together, and give each warp
    // its own.
    template <class T, class Change>
    SIMT_INLINE T simt_across_warps(const T& mine, unsigned int from, Change&& change) const {
        constexpr unsigned int warps = Size / 32;
        const void* const of_lanes = simt_exchange(mine);
        const unsigned int rank = thread_rank();
        T changed = mine;
        if (rank < warps) {
            changed = change(thread_block_tile<warps>(0, 1), of(of_lanes, 32 * rank + from, mine));
        }
        return of(simt_exchange(changed), rank / 32, mine);
    }
    template <class T, class Operator>
    SIMT_INLINE T simt_reduce(const T& value, Operator&& op) const {
        return simt_across_warps(simt_warp().simt_reduce(value, op), 0,
                                 [&](const auto& tile, const T& of_warp) { return tile.simt_reduce(of_warp, op); });
    }
    SIMT_INLINE static thread_block_tile<32> simt_warp() {
        return {simt::rank_in_block() / 32, (thread_block::num_threads() + 31) / 32};
    }

#define SIMT_MISSING(name)                                                                                           \
    template <class... Any>                                                                                          \
    __attribute__((unavailable("a tile of more than 32 threads has no such function, under CUDA either"))) int name( \
        const Any&...) const;
    SIMT_MISSING(shfl_up)
    SIMT_MISSING(shfl_down)
    SIMT_MISSING(shfl_xor)
    SIMT_MISSING(ballot)
    SIMT_MISSING(match_any)
    SIMT_MISSING(match_all)
#undef SIMT_MISSING

  private:
    struct Or {
        SIMT_INLINE int operator()(int a, int b) const { return a | b; }
    };
    struct And {
        SIMT_INLINE int operator()(int a, int b) const { return a & b; }
    };
    SIMT_INLINE thread_block_tile(unsigned int meta_rank, unsigned int meta_size)
        : simt_tile_place<Size>(meta_rank, meta_size) {}
    template <class T>
    SIMT_INLINE static const void* simt_exchange(const T& value) {
        static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8,
                      "a tile of more than 32 threads exchanges values of at most 8 bytes that may be copied as bytes");
        return simt::meet_tile(Size, &value, sizeof(T));
    }
    // The value of a rank; `like` gives the result its type, which need not have a default.
    template <class T>
    SIMT_INLINE static T of(const void* all, unsigned int rank, T like) {
        simt::value_met(all, rank, &like, sizeof(T));
        return like;
    }

    template <unsigned int S>
    friend thread_block_tile<S, thread_block> tiled_partition(const thread_block& parent);
    template <unsigned int S, unsigned int P, class G>
    friend thread_block_tile<S, thread_block_tile<P, G>> tiled_partition(const thread_block_tile<P, G>& parent);
};

template <unsigned int Size>
SIMT_INLINE thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
    return {simt::rank_in_block() / Size, (thread_block::num_threads() + Size - 1) / Size};
}
template <unsigned int Size, unsigned int ParentSize, class Grandparent>
SIMT_INLINE thread_block_tile<Size, thread_block_tile<ParentSize, Grandparent>> tiled_partition(
    const thread_block_tile<ParentSize, Grandparent>& parent) {
    static_assert(Size < ParentSize, "a tile is smaller than the tile that it is a part of");
    return {parent.thread_rank() / Size, ParentSize / Size};
}
template <unsigned int Size>
__attribute__((unavailable("<N> is of a block or a tile; of another group tiled_partition(group, N) makes parts")))
coalesced_group
tiled_partition(const thread_group& parent);
SIMT_INLINE thread_block_tile<1> this_thread() {
    return {0, 1};
}

// Parts of a size that is known when the kernel runs: 1, 2, 4, 8, 16 or 32. The last part of a group may be smaller.
SIMT_INLINE coalesced_group tiled_partition(const coalesced_group& parent, unsigned int threads) {
    simt::check_tile(threads);
    const unsigned int part = parent.thread_rank() / threads;
    return parent.simt_part(simt::part_of(parent.simt_mask(), part, threads), part,
                            (parent.num_threads() + threads - 1) / threads);
}
SIMT_INLINE thread_group tiled_partition(const thread_group& parent, unsigned int threads) {
    simt::check_tile(threads);
    if (parent.kind_ == simt_kind::lanes) {
        const auto part = static_cast<unsigned int>(parent.thread_rank()) / threads;
        return thread_group(simt_kind::lanes, simt::part_of(parent.mask_, part, threads));
    }
    if (parent.kind_ == simt_kind::grid) {
        __trap();
    }
    const unsigned int first = simt::own_lane() / threads * threads;
    const unsigned int in_warp = thread_block::num_threads() - simt::rank_in_block() / 32U * 32U;
    const unsigned int last = first + threads < in_warp ? first + threads : in_warp;
    const unsigned int below_last = last >= 32U ? ~0U : simt::lanes_before(last);
    return thread_group(simt_kind::lanes, below_last & ~simt::lanes_before(first));
}

template <class Group>
concept SimtLanes = requires(const Group& group) {
    group.simt_mask();
};

// The threads of the group whose predicate is true where the caller's is, and false where it is not.
template <SimtLanes Group>
SIMT_INLINE coalesced_group binary_partition(const Group& group, bool predicate) {
    const unsigned int all = group.simt_mask();
    const unsigned int yes = simt::group_ballot(all, predicate ? 1 : 0, "binary_partition");
    if (yes == all || yes == 0) {
        return group.simt_part(all, 0, 1);
    }
    return group.simt_part(predicate ? yes : all & ~yes, predicate ? 1U : 0U, 2U);
}
// The threads of the group that have the same label.
template <SimtLanes Group, class Label>
SIMT_INLINE coalesced_group labeled_partition(const Group& group, Label label) {
    static_assert(std::is_integral_v<Label> || std::is_pointer_v<Label>, "a label is an integer or a pointer");
    if constexpr (std::is_same_v<Label, bool>) {
        return binary_partition(group, label);
    } else {
        std::uint64_t bits = 0;
        if constexpr (std::is_pointer_v<Label>) {
            bits = reinterpret_cast<std::uintptr_t>(label);
        } else {
            bits = static_cast<std::uint64_t>(label);
        }
        const unsigned int mask = simt::match_any(group.simt_mask(), bits, "labeled_partition");
        // Groups are numbered by their first threads.
        const unsigned int own_lane = simt::own_lane();
        const unsigned int leaders = simt::group_ballot(
            group.simt_mask(), (mask & simt::lanes_before(own_lane)) == 0 ? 1 : 0, "labeled_partition");
        const unsigned int leader = static_cast<unsigned int>(simt::countr_zero(mask));
        return group.simt_part(mask, static_cast<unsigned int>(simt::popcount(leaders & simt::lanes_before(leader))),
                               static_cast<unsigned int>(simt::popcount(leaders)));
    }
}
#define SIMT_REFUSED \
    __attribute__((unavailable("it takes a tile of at most 32 threads or a coalesced group, under CUDA too")))
template <class Group>
SIMT_REFUSED coalesced_group binary_partition(const Group&, bool);
template <class Group, class Label>
SIMT_REFUSED coalesced_group labeled_partition(const Group&, Label);
#undef SIMT_REFUSED

template <class Group>
SIMT_INLINE void sync(const Group& group) {
    group.sync();
}
template <class Group>
SIMT_INLINE auto thread_rank(const Group& group) {
    return group.thread_rank();
}
template <class Group>
SIMT_INLINE auto group_size(const Group& group) {
    return group.num_threads();
}

// The lane that does what one thread of a group is to do. CUDA does not say which it is: here it is the last one, so that
// who relies on rank 0 is seen.
SIMT_INLINE unsigned int simt_chosen(unsigned int mask, const char* name) {
    return 31U - static_cast<unsigned int>(simt::countl_zero(simt::group_ballot(mask, 1, name)));
}
// One thread of the group calls the function. Of a block or a larger tile it is the first one.
template <class Group, class Function, class... Arguments>
SIMT_INLINE void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
    bool is_chosen = false;
    if constexpr (SimtLanes<Group>) {
        is_chosen = simt::own_lane() == simt_chosen(group.simt_mask(), "invoke_one");
    } else {
        is_chosen = group.thread_rank() == 0;
    }
    if (is_chosen) {
        std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
    }
}
// Its result goes to all of them.
template <class Group, class Function, class... Arguments>
requires requires(const Group& group) {
    group.meta_group_rank();
}
SIMT_INLINE auto invoke_one_broadcast(const Group& group, Function&& function, Arguments&&... arguments) {
    using Result = simt::remove_cvref_t<std::invoke_result_t<Function, Arguments...>>;
    static_assert(!std::is_void_v<Result>,
                  "invoke_one_broadcast is of a function with a result; others take invoke_one");
    if constexpr (std::is_void_v<Result>) {
        return;
    } else if constexpr (SimtLanes<Group>) {
        const unsigned int chosen = simt_chosen(group.simt_mask(), "invoke_one_broadcast");
        Result result{};
        if (simt::own_lane() == chosen) {
            result = std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
        }
        return simt::shuffle_value(simt::Shuffle::index, group.simt_mask(), result, chosen, 32, "invoke_one_broadcast");
    } else {
        Result result{};
        if (group.thread_rank() == 0) {
            result = std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
        }
        return group.shfl(result, 0);
    }
}
template <class Function, class... Arguments>
__attribute__((unavailable("it takes a tile or a coalesced group, under CUDA too"))) void invoke_one_broadcast(
    const thread_group& group, Function&& function, Arguments&&... arguments);

}  // namespace cooperative_groups
