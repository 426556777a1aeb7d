// SPDX-License-Identifier: MIT
// verdict: uninitialised global exchange_takes_what_nobody_wrote.cu:9
// verdict: uninitialised shared exchange_takes_what_nobody_wrote.cu:11
// What was there before is used.
#include <cuda_runtime.h>

__global__ void take(int* out, int* bins) {
    __shared__ float cell;
    out[threadIdx.x] = atomicExch(&bins[threadIdx.x], 0);
    if (threadIdx.x == 0) {
        out[0] += static_cast<int>(atomicExch(&cell, 1.0F));
    }
}

int main() {
    int *out = nullptr, *bins = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMalloc(&bins, 64 * sizeof(int));
    take<<<1, 64>>>(out, bins);
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaFree(bins);
}
