// SPDX-License-Identifier: MIT
// verdict: correct
// Reductions and scans of tiles and of coalesced groups against values worked out by hand.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

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

__device__ void tiles(int lane) {
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    expect(__LINE__, cg::reduce(warp, lane, cg::plus<int>()), 496);
    expect(__LINE__, cg::reduce(warp, lane - 5, cg::less<int>()), -5);
    expect(__LINE__, cg::reduce(warp, lane, cg::greater<int>()), 31);
    expect(__LINE__, cg::reduce(warp, 0xf0U | static_cast<unsigned>(lane), cg::bit_and<unsigned>()), 0xf0);
    expect(__LINE__, cg::reduce(warp, 1U << lane, cg::bit_or<unsigned>()), 0xffffffffLL);
    expect(__LINE__, cg::reduce(warp, 1U << lane / 2 * 2, cg::bit_xor<unsigned>()), 0);
    expect(__LINE__, static_cast<long long>(cg::reduce(warp, 0.5F * static_cast<float>(lane), cg::plus<float>())), 248);
    expect(__LINE__, static_cast<long long>(cg::reduce(warp, 0.25 * lane, cg::greater<double>()) * 4), 31);
    const auto four = cg::tiled_partition<4>(block);
    expect(__LINE__, cg::reduce(four, lane, [](int a, int b) { return a + b; }), lane / 4 * 16 + 6);
    expect(__LINE__, cg::reduce(four, lane + 1LL, [](long long a, long long b) { return a > b ? a : b; }),
           lane / 4 * 4 + 4);
    expect(__LINE__, cg::reduce(cg::tiled_partition<1>(block), lane, cg::plus<int>()), lane);
    expect(__LINE__, cg::inclusive_scan(warp, lane), lane * (lane + 1) / 2);
    expect(__LINE__, cg::exclusive_scan(warp, lane), lane * (lane - 1) / 2);
    expect(__LINE__, cg::inclusive_scan(four, 1), lane % 4 + 1);
    expect(__LINE__, cg::exclusive_scan(four, 1), lane % 4);
    expect(__LINE__, cg::inclusive_scan(four, lane % 4 == 1 ? 9 : lane % 4, cg::greater<int>()), lane % 4 == 0 ? 0 : 9);
    expect(__LINE__, cg::exclusive_scan(four, 1U << lane % 4, cg::bit_or<unsigned>()), (1 << lane % 4) - 1);
}

// Lanes 0, 3, …, 30: eleven of them.
__device__ void every_third(int lane) {
    const auto group = cg::coalesced_threads();
    const int rank = lane / 3;
    expect(__LINE__, cg::reduce(group, lane, cg::plus<int>()), 165);
    expect(__LINE__, cg::reduce(group, -lane, cg::less<int>()), -30);
    expect(__LINE__, cg::reduce(group, rank == 10 ? 1 : 0, [](int a, int b) { return a | b; }), 1);
    expect(__LINE__, cg::inclusive_scan(group, 2), 2 * rank + 2);
    expect(__LINE__, cg::exclusive_scan(group, rank), rank * (rank - 1) / 2);
    const auto two = cg::tiled_partition(group, 2);
    expect(__LINE__, cg::reduce(two, rank, cg::plus<int>()), rank == 10 ? 10 : rank / 2 * 4 + 1);
}

__global__ void check() {
    const int lane = static_cast<int>(threadIdx.x);
    tiles(lane);
    if (lane % 3 == 0) {
        every_third(lane);
    }
}

int main() {
    check<<<1, 32>>>();
    int host = -1;
    cudaMemcpyFromSymbol(&host, wrong, sizeof host);
    return host == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
