// SPDX-License-Identifier: MIT
// verdict: correct
// Blocks add to a sum by atomics; the last one reads it plainly, behind its fence.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ unsigned tickets;

__global__ void kernel(int* out) {
    if (threadIdx.x == 0) {
        atomicAdd(out, static_cast<int>(blockIdx.x));
        __threadfence();
        const bool last = atomicAdd(&tickets, 1U) == gridDim.x - 1;
        __threadfence();
        if (last) {
            out[1] = out[0];
            out[0] = 0;
        }
    }
}

int main() {
    constexpr int n = 2;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<20, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 190 * i) {
            return EXIT_FAILURE;
        }
    }
}
