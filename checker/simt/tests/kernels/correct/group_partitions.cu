// SPDX-License-Identifier: MIT
// verdict: correct
// Groups made of groups: by label, by predicate, and in parts of a size that is known when the kernel runs.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>
#include <cstdlib>

namespace cg = cooperative_groups;

__device__ int wrong;

__device__ void expect(int line, long long got, long long wanted) {
    if (got != wanted) {
        printf("line %d, thread (%d, %d, %d): got %lld, wanted %lld\n", line, static_cast<int>(threadIdx.x),
               static_cast<int>(threadIdx.y), static_cast<int>(threadIdx.z), got, wanted);
        atomicAdd(&wrong, 1);
    }
}

// The sum over any group, through shared memory: a halving loop as textbooks have it.
__device__ int sum_of(const cg::thread_group& group, int* scratch, int value) {
    const int rank = static_cast<int>(group.thread_rank());
    for (int half = static_cast<int>(group.size()) / 2; half > 0; half /= 2) {
        scratch[rank] = value;
        group.sync();
        if (rank < half) {
            value += scratch[rank + half];
        }
        group.sync();
    }
    return value;
}

__global__ void check() {
    const auto block = cg::this_thread_block();
    const int rank = static_cast<int>(block.thread_rank()), lane = rank % 32;
    const auto warp = cg::tiled_partition<32>(block);

    const cg::coalesced_group thirds = cg::labeled_partition(warp, lane % 3);
    expect(__LINE__, thirds.size(), lane % 3 == 2 ? 10 : 11);
    expect(__LINE__, thirds.thread_rank(), lane / 3);
    expect(__LINE__, thirds.meta_group_size(), 3);
    expect(__LINE__, thirds.meta_group_rank(), lane % 3);
    expect(__LINE__, cg::reduce(thirds, lane, cg::plus<int>()), lane % 3 == 0 ? 165 : lane % 3 == 1 ? 176 : 155);

    const cg::coalesced_group half = cg::binary_partition(cg::tiled_partition<16>(block), lane % 16 < 6);
    expect(__LINE__, half.size(), lane % 16 < 6 ? 6 : 10);
    expect(__LINE__, half.thread_rank(), lane % 16 < 6 ? lane % 16 : lane % 16 - 6);
    expect(__LINE__, half.meta_group_size(), 2);
    half.sync();
    expect(__LINE__, half.shfl(lane, 0) % 16, lane % 16 < 6 ? 0 : 6);

    const cg::coalesced_group fours = cg::tiled_partition(half, 4);
    expect(__LINE__, fours.size(), lane % 16 < 6 ? (half.thread_rank() < 4 ? 4 : 2) : (half.thread_rank() < 8 ? 4 : 2));
    expect(__LINE__, fours.meta_group_rank(), half.thread_rank() / 4);
    expect(__LINE__, fours.meta_group_size(), lane % 16 < 6 ? 2 : 3);

    __shared__ int scratch[64];
    const int of_block = sum_of(block, scratch, 1);
    expect(__LINE__, rank == 0 ? of_block : 64, 64);
    const cg::thread_group eight = cg::tiled_partition(block, 8);
    const int of_tile = sum_of(eight, scratch + rank / 8 * 8, rank);
    expect(__LINE__, eight.thread_rank() == 0 ? of_tile : 0, eight.thread_rank() == 0 ? rank * 8 + 28 : 0);
    const cg::thread_group two = cg::tiled_partition(eight, 2);
    expect(__LINE__, static_cast<long long>(two.size()), 2);
    expect(__LINE__, static_cast<long long>(two.thread_rank()), rank % 2);
}

int main() {
    check<<<2, 64>>>();
    int host = -1;
    cudaMemcpyFromSymbol(&host, wrong, sizeof host);
    return host == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
