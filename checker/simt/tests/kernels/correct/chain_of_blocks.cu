// SPDX-License-Identifier: MIT
// verdict: correct
// A block waits for the flag of the one before it; places in the chain are drawn as tickets.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ unsigned next_place;

__global__ void chain(int* out) {
    __shared__ unsigned place;
    if (threadIdx.x == 0) {
        place = atomicAdd(&next_place, 1);
        volatile int* flags = out;
        int before = 0;
        if (place > 0) {
            while ((before = flags[place - 1]) == 0) {
            }
        }
        __threadfence();
        flags[place] = before + 1;
    }
}

int main() {
    constexpr int n = 100;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    chain<<<n, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != i + 1) {
            return EXIT_FAILURE;
        }
    }
}
