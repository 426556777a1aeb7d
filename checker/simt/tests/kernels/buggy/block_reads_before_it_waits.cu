// SPDX-License-Identifier: MIT
// verdict: race shared block_reads_before_it_waits.cu:16 block_reads_before_it_waits.cu:18
// A block's barrier in two steps, and the others' numbers are read between them.
#include <cooperative_groups.h>

#include <cstdlib>
#include <utility>

namespace cg = cooperative_groups;

__global__ void shift(int* out) {
    __shared__ int tile[64];
    const cg::thread_block block = cg::this_thread_block();
    tile[threadIdx.x] = 0;
    __syncthreads();
    tile[threadIdx.x] = static_cast<int>(threadIdx.x);
    auto token = block.barrier_arrive();
    out[threadIdx.x] = tile[(threadIdx.x + 32) % 64];
    block.barrier_wait(std::move(token));
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    shift<<<1, 64>>>(out);
    const bool fine = cudaDeviceSynchronize() == cudaSuccess;
    cudaFree(out);
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
