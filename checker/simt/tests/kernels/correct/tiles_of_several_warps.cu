// SPDX-License-Identifier: MIT
// verdict: correct
// Tiles of 64 and 128 threads: they wait for each other, exchange values, and reduce and scan; a tile that is taken as
// a thread_group.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>
#include <cstdlib>

namespace cg = cooperative_groups;
constexpr int kThreads = 256;

__device__ int last_of(const cg::thread_group& group, int* shared) {
    if (group.thread_rank() == group.size() - 1) {
        *shared = static_cast<int>(threadIdx.x);
    }
    group.sync();
    return *shared;
}

template <int Size>
__global__ void exchange(int* out) {
    __shared__ int tile[kThreads], lasts[kThreads / 32];
    __shared__ cg::block_tile_memory<kThreads> memory;
    const auto part = cg::tiled_partition<Size>(cg::this_thread_block(memory));
    const int i = static_cast<int>(threadIdx.x), rank = static_cast<int>(part.thread_rank());
    tile[i] = i;
    part.sync();
    const int mirrored = tile[i - rank + Size - 1 - rank];
    const int first = part.shfl(i, 3);
    const int sum = cg::reduce(part, i, cg::plus<int>());
    const int before = cg::exclusive_scan(part, 1);
    const bool some = part.any(i == Size) != 0, every = part.all(i >= Size) != 0;
    const auto warp = cg::tiled_partition<32>(part);
    const int largest = cg::reduce(warp, i, cg::greater<int>());
    const int last = last_of(warp, &lasts[i / 32]);
    const int base = static_cast<int>(part.meta_group_rank()) * Size;
    out[i] = mirrored == base + Size - 1 - rank && first == base + 3 && sum == Size * base + Size * (Size - 1) / 2 &&
             before == rank && some == (base == Size) && every == (base >= Size) && largest == i / 32 * 32 + 31 &&
             last == largest && part.num_threads() == Size && part.meta_group_size() == kThreads / Size;
}

int main() {
    int* out = nullptr;
    int host[kThreads];
    cudaMalloc(&out, sizeof host);
    bool right = true;
    const auto holds = [&] {
        cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
        for (const int each : host) { right = right && each == 1; }
    };
    exchange<64><<<2, kThreads>>>(out);
    holds();
    exchange<128><<<2, kThreads>>>(out);
    holds();
    cudaFree(out);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
