// SPDX-License-Identifier: MIT
// verdict: correct
// Each thread sets its own bit of a word.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    if (t < 2) {
        cells[t] = 0;
    }
    __syncthreads();
    atomicOr(&cells[t / 32], 1 << t % 32);
    __syncthreads();
    out[t] = cells[t / 32];
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
        if (host[i] != -1) {
            return EXIT_FAILURE;
        }
    }
}
