// SPDX-License-Identifier: MIT
// verdict: race global block_reads_another_blocks_output.cu:11 block_reads_another_blocks_output.cu:11
// Each block reads what the next block writes in the same launch.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void smooth(float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n) {
        x[i] = 0.5F * (x[i] + x[i + 1]);
    }
}

int main() {
    float* x = nullptr;
    cudaMalloc(&x, 128 * sizeof(float));
    cudaMemset(x, 0, 128 * sizeof(float));
    smooth<<<4, 32>>>(x, 128);
    cudaFree(x);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
