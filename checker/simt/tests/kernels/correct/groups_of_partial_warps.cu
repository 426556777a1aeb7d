// SPDX-License-Identifier: MIT
// verdict: correct
// Groups where a warp is not full (blocks of 40 and of 100 threads) and where only some of its threads come, against
// plain loops over the threads that are there; and what groups do to an atomic.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>

namespace cg = cooperative_groups;

__device__ int wrong;

__device__ void expect(int line, long long got, long long wanted) {
    if (got != wanted) {
        printf("line %d, thread %d of %d: got %lld, wanted %lld\n", line, static_cast<int>(threadIdx.x),
               static_cast<int>(blockDim.x), got, wanted);
        atomicAdd(&wrong, 1);
    }
}

// The threads of this warp for which the predicate holds: how many, how many of lower number, the sum of their numbers,
// and of those up to this one.
struct Members {
    int count = 0, rank = 0, sum = 0, sum_with = 0;
};
template <class Predicate>
__device__ Members members(Predicate holds) {
    const int i = static_cast<int>(threadIdx.x), first = i / 32 * 32;
    Members found;
    for (int j = first; j < first + 32 && j < static_cast<int>(blockDim.x); j++) {
        if (holds(j)) {
            found.count++;
            found.rank += j < i ? 1 : 0;
            found.sum += j;
            found.sum_with += j <= i ? j : 0;
        }
    }
    return found;
}

template <class Predicate>
__device__ void check_group(const cg::coalesced_group& group, Predicate holds) {
    const int i = static_cast<int>(threadIdx.x);
    const Members wanted = members(holds);
    expect(__LINE__, group.num_threads(), wanted.count);
    expect(__LINE__, group.thread_rank(), wanted.rank);
    expect(__LINE__, cg::reduce(group, i, cg::plus<int>()), wanted.sum);
    expect(__LINE__, cg::reduce(group, 1, [](int a, int b) { return a + b; }), wanted.count);
    expect(__LINE__, cg::inclusive_scan(group, i), wanted.sum_with);
    expect(__LINE__, cg::exclusive_scan(group, i), wanted.sum_with - i);
    expect(__LINE__, group.shfl(group.thread_rank(), wanted.count - 1), wanted.count - 1);
    expect(__LINE__, group.all(holds(i)), 1);
    const auto fours = cg::tiled_partition(group, 4);
    const int left = wanted.count - wanted.rank / 4 * 4;
    expect(__LINE__, fours.num_threads(), left < 4 ? left : 4);
    expect(__LINE__, cg::reduce(fours, 1, cg::plus<int>()), left < 4 ? left : 4);
    const int told = cg::invoke_one_broadcast(group, [i] { return i; });
    expect(__LINE__, holds(told), 1);
    expect(__LINE__, group.match_any(told), wanted.count == 32 ? ~0U : (1U << wanted.count) - 1);
}

__device__ void partitions(const cg::coalesced_group& warp) {
    const int i = static_cast<int>(threadIdx.x);
    check_group(cg::labeled_partition(warp, i / 5), [i](int j) { return j / 5 == i / 5; });
    check_group(cg::labeled_partition(warp, -1LL - i % 2), [i](int j) { return j % 2 == i % 2; });
    check_group(cg::labeled_partition(warp, &wrong + i % 4), [i](int j) { return j % 4 == i % 4; });
    check_group(cg::binary_partition(warp, i % 32 < 3), [i](int j) { return (j % 32 < 3) == (i % 32 < 3); });
    check_group(cg::binary_partition(warp, true), [](int) { return true; });
}

__global__ void check(int stay) {
    const int i = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x);
    const auto block = cg::this_thread_block();
    check_group(cg::coalesced_threads(), [](int) { return true; });
    partitions(cg::coalesced_threads());
    __syncwarp();

    const auto four = cg::tiled_partition<4>(block);
    expect(__LINE__, cg::reduce(four, i, cg::plus<int>()), i / 4 * 16 + 6);
    const cg::thread_group eight = cg::tiled_partition(block, 8);
    const int left = n - i / 8 * 8;
    expect(__LINE__, static_cast<long long>(eight.size()), left < 8 ? left : 8);
    block.sync();

    // Divergent entries: each branch has a group of its own.
    if (i % 3 == 1) {
        check_group(cg::coalesced_threads(), [](int j) { return j % 3 == 1; });
    } else if (i % 3 == 2) {
        const auto group = cg::coalesced_threads();
        check_group(cg::binary_partition(group, i % 2 == 0), [i](int j) { return j % 3 == 2 && j % 2 == i % 2; });
    }
    block.sync();
    if (i >= stay) {
        return;
    }
    check_group(cg::coalesced_threads(), [stay](int j) { return j < stay; });
}

// Threads 0 to 99 by fours; what they add up is known before the block's barrier only to who did it.
__global__ void update() {
    __shared__ int sum, least, stored, places;
    __shared__ float product;
    const auto block = cg::this_thread_block();
    const auto four = cg::tiled_partition<4>(block);
    const int i = static_cast<int>(threadIdx.x), r = i % 4;
    if (i == 0) {
        sum = 5;
        least = 3;
        stored = places = 0;
        product = 1.0F;
    }
    block.sync();
    using Integer = cuda::atomic_ref<int, cuda::thread_scope_block>;
    cg::reduce_update_async(four, Integer(sum), i, cg::plus<int>());
    cg::reduce_update_async(four, Integer(least), -i, cg::less<int>());
    cg::reduce_update_async(four, cuda::atomic_ref<float, cuda::thread_scope_block>(product), r == 0 ? 2.0F : 1.0F,
                            [](float a, float b) { return a < 64.0F ? a * b : a; });
    if (i / 4 == 7) {
        cg::reduce_store_async(four, Integer(stored), i, cg::greater<int>());
    }
    // Each tile takes r * 2 places for rank r: 12 in a row.
    const int begin = cg::exclusive_scan_update(four, Integer(places), 2 * r);
    const int first = four.shfl(begin, 0);
    expect(__LINE__, first % 12, 0);
    expect(__LINE__, begin - first, r * (r - 1));
    const int end = cg::inclusive_scan_update(four, Integer(places), 0);
    expect(__LINE__, end >= first + 12, 1);
    block.sync();
    expect(__LINE__, sum, 5 + 4950);
    expect(__LINE__, least, -99);
    expect(__LINE__, stored, 31);
    expect(__LINE__, places, 25 * 12);
    expect(__LINE__, static_cast<long long>(product), 64);
}

int main() {
    check<<<1, 40>>>(37);
    check<<<2, 100>>>(65);
    update<<<1, 100>>>();
    int host = -1;
    cudaMemcpyFromSymbol(&host, wrong, sizeof host);
    return host == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
