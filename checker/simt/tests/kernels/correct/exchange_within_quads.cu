// SPDX-License-Identifier: MIT
// verdict: correct
// Groups of four lanes, each with its own mask; all of a group read what one of them writes next.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    const unsigned quad = 0xfU << (t & ~3);
    cells[t] = t;
    __syncwarp(quad);
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += cells[(t & ~3) + i];
    }
    __syncwarp(quad);
    if (t % 4 == 0) {
        cells[t] = sum;
    }
    __syncwarp(quad);
    out[t] = cells[t & ~3];
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
        if (host[i] != 4 * (i & ~3) + 6) {
            return EXIT_FAILURE;
        }
    }
}
