// SPDX-License-Identifier: MIT
// verdict: correct
// Shuffles, votes, match and reduce against values worked out by hand.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__device__ int wrong;

__device__ void expect(int line, long long got, long long wanted) {
    if (got != wanted) {
        printf("line %d, lane %d: got %lld, wanted %lld\n", line, static_cast<int>(threadIdx.x), got, wanted);
        atomicAdd(&wrong, 1);
    }
}

__global__ void check() {
    constexpr unsigned kAll = 0xffffffffU;
    const int lane = static_cast<int>(threadIdx.x);
    expect(__LINE__, __shfl_sync(kAll, lane, 7), 7);
    expect(__LINE__, __shfl_sync(kAll, lane, 35), 3);
    expect(__LINE__, __shfl_sync(kAll, lane, 3, 8), lane / 8 * 8 + 3);
    expect(__LINE__, __shfl_up_sync(kAll, lane, 1), lane == 0 ? 0 : lane - 1);
    expect(__LINE__, __shfl_up_sync(kAll, lane, 2, 8), lane % 8 < 2 ? lane : lane - 2);
    expect(__LINE__, __shfl_down_sync(kAll, lane, 4), lane + 4 > 31 ? lane : lane + 4);
    expect(__LINE__, __shfl_down_sync(kAll, lane, 4, 16), lane % 16 + 4 > 15 ? lane : lane + 4);
    expect(__LINE__, __shfl_xor_sync(kAll, lane, 5), lane ^ 5);
    // Lanes of an earlier group may be read, those of a later one not.
    expect(__LINE__, __shfl_xor_sync(kAll, lane, 8, 8), lane / 8 % 2 == 1 ? lane ^ 8 : lane);
    expect(__LINE__, __shfl_sync(kAll, static_cast<long long>(lane) << 40, 9), 9LL << 40);
    expect(__LINE__, static_cast<long long>(__shfl_xor_sync(kAll, 0.5 * lane, 1) * 2.0), lane ^ 1);
    expect(__LINE__, static_cast<long long>(__shfl_sync(kAll, 1.5F * lane, 2)), 3);
    expect(__LINE__, __ballot_sync(kAll, lane % 4 == 0), 0x11111111LL);
    expect(__LINE__, __any_sync(kAll, lane == 31), 1);
    expect(__LINE__, __any_sync(kAll, lane == 32), 0);
    expect(__LINE__, __all_sync(kAll, lane < 32), 1);
    expect(__LINE__, __all_sync(kAll, lane < 31), 0);
    expect(__LINE__, __match_any_sync(kAll, lane % 2), lane % 2 == 0 ? 0x55555555LL : 0xaaaaaaaaLL);
    int same = -1;
    expect(__LINE__, __match_all_sync(kAll, 7, &same), 0xffffffffLL);
    expect(__LINE__, same, 1);
    expect(__LINE__, __match_all_sync(kAll, lane / 31, &same), 0);
    expect(__LINE__, same, 0);
    expect(__LINE__, __reduce_add_sync(kAll, lane), 496);
    expect(__LINE__, __reduce_min_sync(kAll, lane - 5), -5);
    expect(__LINE__, __reduce_max_sync(kAll, static_cast<unsigned>(lane)), 31);
    expect(__LINE__, __reduce_and_sync(kAll, 0xf0U | static_cast<unsigned>(lane)), 0xf0);
    expect(__LINE__, __reduce_or_sync(kAll, 1U << lane), 0xffffffffLL);
    expect(__LINE__, __reduce_xor_sync(kAll, static_cast<unsigned>(lane)), 0);
    expect(__LINE__, __activemask(), 0xffffffffLL);
    if (lane < 8) {
        expect(__LINE__, __ballot_sync(0xffU, 1), 0xff);
        expect(__LINE__, __reduce_add_sync(0xffU, 1), 8);
    }
    expect(__LINE__, __syncthreads_count(lane % 2), 16);
    expect(__LINE__, __syncthreads_and(lane < 32) != 0, 1);
    expect(__LINE__, __syncthreads_and(lane < 31) != 0, 0);
    expect(__LINE__, __syncthreads_or(lane == 40) != 0, 0);
    expect(__LINE__, __syncthreads_or(lane == 20) != 0, 1);
}

int main() {
    check<<<1, 32>>>();
    int host = -1;
    cudaMemcpyFromSymbol(&host, wrong, sizeof host);
    return host == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
