// SPDX-License-Identifier: MIT
// verdict: race global scatter_to_one_place.cu:10 scatter_to_one_place.cu:10
// Two threads scatter to each place.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    out[i / 2] = i + 1;
}

int main() {
    constexpr int n = 64;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<4, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
