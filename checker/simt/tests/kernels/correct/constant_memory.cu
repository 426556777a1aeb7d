// SPDX-License-Identifier: MIT
// verdict: correct
// A table that the host copies to the device's constant memory.
#include <cuda_runtime.h>

#include <cstdlib>

__constant__ int table[4];
__device__ int offset = 10;

__global__ void look_up(int* out) {
    out[threadIdx.x] = table[threadIdx.x % 4] + offset;
}

int main() {
    constexpr int n = 64;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    const int values[4] = {1, 2, 3, 4};
    const int moved = 100;
    cudaMemcpyToSymbol(table, values, sizeof values);
    cudaMemcpyToSymbol(offset, &moved, sizeof moved);
    look_up<<<1, n>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != i % 4 + 101) {
            return EXIT_FAILURE;
        }
    }
}
