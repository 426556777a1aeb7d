// SPDX-License-Identifier: MIT
// verdict: correct
// Threads without an element leave; the barrier waits for the others only.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void reverse(int* out, int n) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    if (i >= n) {
        return;
    }
    tile[i] = i;
    __syncthreads();
    out[i] = tile[n - 1 - i];
}

int main() {
    constexpr int n = 50;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    reverse<<<1, 64>>>(out, n);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != n - 1 - i) {
            return EXIT_FAILURE;
        }
    }
}
