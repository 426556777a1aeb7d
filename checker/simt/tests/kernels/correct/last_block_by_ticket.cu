// SPDX-License-Identifier: MIT
// verdict: correct
// Every block draws a ticket; the one with the last sums what all have written.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ unsigned tickets;

__global__ void sum(int* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        out[1 + blockIdx.x] = static_cast<int>(blockIdx.x);
        __threadfence();
        last = atomicAdd(&tickets, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int all = 0;
        for (unsigned b = 0; b < gridDim.x; b++) {
            all += const_cast<volatile int*>(out)[1 + b];
        }
        out[0] = all;
    }
}

int main() {
    constexpr int n = 65;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    sum<<<64, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return host[0] == 64 * 63 / 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
