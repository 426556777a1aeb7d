// SPDX-License-Identifier: MIT
// verdict: correct
// Each step of the scan reads all, waits, writes, and waits.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 1;
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        const int before = t >= step ? cells[t - step] : 0;
        __syncthreads();
        cells[t] += before;
        __syncthreads();
    }
    out[t] = cells[t];
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
        if (host[i] != i + 1) {
            return EXIT_FAILURE;
        }
    }
}
