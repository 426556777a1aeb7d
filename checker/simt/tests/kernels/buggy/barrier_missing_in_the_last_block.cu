// SPDX-License-Identifier: MIT
// verdict: race shared barrier_missing_in_the_last_block.cu:13 barrier_missing_in_the_last_block.cu:17
// All blocks but the last one wait.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = 0;
    __syncthreads();
    cells[t] = t;
    if (blockIdx.x + 1 < gridDim.x) {
        __syncthreads();
    }
    out[64 * blockIdx.x + t] = cells[63 - t];
}

int main() {
    constexpr int n = 320;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<5, 64>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
