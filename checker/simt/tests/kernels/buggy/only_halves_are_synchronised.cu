// SPDX-License-Identifier: MIT
// verdict: race shared only_halves_are_synchronised.cu:13 only_halves_are_synchronised.cu:15
// Each half of the warp waits for itself, and lanes read the other half.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    cells[t] = t;
    __syncwarp(t < 16 ? 0x0000ffffU : 0xffff0000U);
    out[t] = cells[31 - t];
}

int main() {
    constexpr int n = 32;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
