// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global atomic_past_end.cu:9
// A histogram of 256 bins that gets the value 256.
#include <cuda_runtime.h>

__global__ void histogram(int* bins, const int* values, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&bins[values[i] + 1], 1);
    }
}

int main() {
    int host[256];
    for (int i = 0; i < 256; i++) {
        host[i] = i;
    }
    int *bins = nullptr, *values = nullptr;
    cudaMalloc(&bins, sizeof host);
    cudaMalloc(&values, sizeof host);
    cudaMemset(bins, 0, sizeof host);
    cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
    histogram<<<1, 256>>>(bins, values, 256);
    cudaDeviceSynchronize();
    cudaFree(bins);
    cudaFree(values);
}
