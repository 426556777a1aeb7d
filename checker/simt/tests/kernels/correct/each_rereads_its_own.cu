// SPDX-License-Identifier: MIT
// verdict: correct
// Reads and writes of one's own cell need no order.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = t;
    for (int i = 0; i < 10; i++) {
        cells[t] = cells[t] + cells[t] % 3;
    }
    const int before = cells[t];
    cells[t] = before;
    out[t] = cells[t] >= t ? 1 : 0;
}

int main() {
    constexpr int n = 64;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 64>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 1) {
            return EXIT_FAILURE;
        }
    }
}
