// SPDX-License-Identifier: MIT
// verdict: race global lock_that_one_block_ignores.cu:14 lock_that_one_block_ignores.cu:14
// The last block adds without the lock.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    int* lock = out;
    const bool polite = blockIdx.x + 1 < gridDim.x;
    while (polite && atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    out[1] = out[1] + 1;
    __threadfence();
    if (polite) {
        atomicExch(lock, 0);
    }
}

int main() {
    constexpr int n = 2;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<20, 1>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
