// SPDX-License-Identifier: MIT
// verdict: correct
// All lanes of a half read its first cell, wait for each other, and then one of them writes it.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    const unsigned half = t < 16 ? 0x0000ffffU : 0xffff0000U;
    cells[t] = t;
    __syncwarp(half);
    int sum = 0;
    for (int round = 0; round < 3; round++) {
        sum += cells[t & 16];
        __syncwarp(half);
        if (t % 16 == round) {
            cells[t & 16] += 1;
        }
        __syncwarp(half);
    }
    out[t] = sum;
}

int main() {
    constexpr int n = 32;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i < 16 ? 3 : 51)) {
            return EXIT_FAILURE;
        }
    }
}
