// SPDX-License-Identifier: MIT
// verdict: collective ballot_in_a_ragged_loop.cu:11
// Lanes leave a loop after different numbers of steps, and those that stay ask the whole warp.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void count(unsigned int* out, int n) {
    unsigned int seen = 0;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += 32) {
        seen += __popc(__ballot_sync(0xffffffffU, i % 3 == 0));
    }
    __syncthreads();
    out[threadIdx.x] = seen;
}

int main() {
    unsigned int* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(unsigned int));
    count<<<1, 32>>>(out, 40);
    cudaDeviceSynchronize();
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
