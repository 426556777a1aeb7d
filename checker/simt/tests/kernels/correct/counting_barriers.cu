// SPDX-License-Identifier: MIT
// verdict: correct
// __syncthreads_count and its like order memory as __syncthreads does.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = t;
    const int count = __syncthreads_count(t % 2);
    const int first = cells[63 - t];
    const int all = __syncthreads_and(1);
    cells[t] = first + count + all;
    __syncthreads_or(0);
    out[t] = cells[t ^ 32];
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
        if (host[i] != 63 - (i ^ 32) + 33) {
            return EXIT_FAILURE;
        }
    }
}
