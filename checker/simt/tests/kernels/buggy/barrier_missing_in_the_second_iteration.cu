// SPDX-License-Identifier: MIT
// verdict: race shared barrier_missing_in_the_second_iteration.cu:16 barrier_missing_in_the_second_iteration.cu:20
// The barrier lies in a condition that holds in all iterations but one.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        __syncthreads();
        cells[t] = i + t;
        if (i != 1) {
            __syncthreads();
        }
        sum += cells[63 - t];
    }
    out[t] = sum;
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
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
