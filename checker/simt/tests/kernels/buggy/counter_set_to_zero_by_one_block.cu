// SPDX-License-Identifier: MIT
// verdict: race global counter_set_to_zero_by_one_block.cu:10 counter_set_to_zero_by_one_block.cu:13
// The first block sets the counter to zero, when others may have counted.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *out = 0;
    }
    __syncthreads();
    atomicAdd(out, 1);
}

int main() {
    constexpr int n = 1;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<4, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
