// SPDX-License-Identifier: MIT
// verdict: correct
// bug: uninitialised
// The kernel fills half of a buffer, and the host copies and uses all of it.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(float* x) {
    x[threadIdx.x] = 1.0F;
}

int main() {
    float host[64];
    float* x = nullptr;
    cudaMalloc(&x, sizeof host);
    fill<<<1, 32>>>(x);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(x);
    float sum = 0.0F;
    for (const float value : host) {
        sum += value;
    }
    if (sum == 32.0F) {
        return EXIT_SUCCESS;
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
