// SPDX-License-Identifier: MIT
// verdict: correct
// Shuffles, votes and match of tiles and of coalesced groups against values worked out by hand.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>

namespace cg = cooperative_groups;

struct Pair {
    double value;
    int index;
};

__device__ int wrong;

__device__ void expect(int line, long long got, long long wanted) {
    if (got != wanted) {
        printf("line %d, thread (%d, %d, %d): got %lld, wanted %lld\n", line, static_cast<int>(threadIdx.x),
               static_cast<int>(threadIdx.y), static_cast<int>(threadIdx.z), got, wanted);
        atomicAdd(&wrong, 1);
    }
}

__device__ void tiles(int lane) {
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int rank = lane % 8, first = lane - rank;
    expect(__LINE__, tile.shfl(lane, 3), first + 3);
    expect(__LINE__, tile.shfl_up(lane, 2), rank < 2 ? lane : lane - 2);
    expect(__LINE__, tile.shfl_down(lane, 3), rank > 4 ? lane : lane + 3);
    expect(__LINE__, tile.shfl_xor(lane, 5), first + (rank ^ 5));
    const Pair pair = tile.shfl(Pair{0.5 * lane, lane}, 2);
    expect(__LINE__, static_cast<long long>(2.0 * pair.value), first + 2);
    expect(__LINE__, pair.index, first + 2);
    expect(__LINE__, tile.any(lane == 9), first == 8);
    expect(__LINE__, tile.all(lane < 12), first == 0);
    expect(__LINE__, tile.ballot(rank % 3 == 0), 0x49);
    expect(__LINE__, tile.match_any(rank / 2), 3LL << rank / 2 * 2);
    int same = -1;
    expect(__LINE__, tile.match_all(first, same), 0xff);
    expect(__LINE__, same, 1);
    expect(__LINE__, tile.match_all(lane, same), 0);
    expect(__LINE__, same, 0);
}

// Every third lane: 0, 3, …, 30, of which lane 3 * r has rank r.
__device__ void every_third(int lane) {
    const auto group = cg::coalesced_threads();
    const int rank = static_cast<int>(group.thread_rank());
    expect(__LINE__, rank, lane / 3);
    expect(__LINE__, group.size(), 11);
    expect(__LINE__, group.shfl(lane, 4), 12);
    expect(__LINE__, group.shfl_up(lane, 2), rank < 2 ? lane : lane - 6);
    expect(__LINE__, group.shfl_down(lane, 3), rank > 7 ? lane : lane + 9);
    expect(__LINE__, group.shfl(Pair{1.0, lane}, 10).index, 30);
    expect(__LINE__, group.any(lane == 9), 1);
    expect(__LINE__, group.any(lane == 10), 0);
    expect(__LINE__, group.all(lane % 3 == 0), 1);
    expect(__LINE__, group.ballot(rank % 2 == 0), 0x555);
    expect(__LINE__, group.match_any(rank % 2), rank % 2 == 0 ? 0x555 : 0x2aa);
    int same = -1;
    expect(__LINE__, group.match_all(7, same), 0x7ff);
    expect(__LINE__, same, 1);
    expect(__LINE__, cg::invoke_one_broadcast(group, [&] { return 100 + lane; }) % 100 % 3, 0);
}

__global__ void check() {
    const int lane = static_cast<int>(threadIdx.x);
    tiles(lane);
    if (lane % 3 == 0) {
        every_third(lane);
    }
    __shared__ int calls;
    if (lane == 0) {
        calls = 0;
    }
    const auto block = cg::this_thread_block();
    block.sync();
    cg::invoke_one(cg::tiled_partition<4>(block), [&](int n) { atomicAdd(&calls, n); }, 2);
    block.sync();
    expect(__LINE__, calls, 16);
}

int main() {
    check<<<1, 32>>>();
    int host = -1;
    cudaMemcpyFromSymbol(&host, wrong, sizeof host);
    return host == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
