// SPDX-License-Identifier: MIT
// verdict: race global stride_of_the_grid_too_small.cu:11 stride_of_the_grid_too_small.cu:11
// The stride forgets the last block, and some elements are updated twice.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out, int n) {
    const int stride = static_cast<int>((gridDim.x - 1) * blockDim.x);
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += stride) {
        out[i] += 1;
    }
}

int main() {
    constexpr int n = 512;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<4, 32>>>(out, n);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
