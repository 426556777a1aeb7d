// SPDX-License-Identifier: MIT
// verdict: spin blocks_that_cannot_all_be_resident.cu:12
// Each block waits until all have arrived; those that are not resident never do.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ unsigned arrived;

__global__ void kernel(int* out) {
    atomicAdd(&arrived, 1U);
    while (*static_cast<volatile unsigned*>(&arrived) < gridDim.x) {
    }
    out[blockIdx.x] = 1;
}

int main() {
    constexpr int n = 40;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<40, 1>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
