// SPDX-License-Identifier: MIT
// verdict: correct
// Threads that find something write one and the same value.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    if (t == 0) {
        cells[0] = 0;
    }
    __syncthreads();
    if (t % 3 == 0) {
        cells[0] = 1;
    }
    __syncthreads();
    out[t] = cells[0];
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
