// SPDX-License-Identifier: MIT
// verdict: race shared barrier_read_before_its_wait.cu:19 barrier_read_before_its_wait.cu:21
// A neighbour's number is read between a thread's arrival at a cuda::barrier and its wait.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cuda/barrier>
#include <utility>

__global__ void shift(int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> all;
    __shared__ int tile[64];
    const unsigned i = threadIdx.x;
    tile[i] = 0;
    if (i == 0) {
        init(&all, blockDim.x);
    }
    __syncthreads();
    tile[i] = static_cast<int>(i);
    auto token = all.arrive();
    out[i] = tile[(i + 32) % 64];
    all.wait(std::move(token));
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    shift<<<1, 64>>>(out);
    const bool fine = cudaDeviceSynchronize() == cudaSuccess;
    cudaFree(out);
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
