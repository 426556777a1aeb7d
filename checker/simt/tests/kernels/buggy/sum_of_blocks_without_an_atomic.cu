// SPDX-License-Identifier: MIT
// verdict: race global sum_of_blocks_without_an_atomic.cu:10 sum_of_blocks_without_an_atomic.cu:10
// One thread a block adds to the sum of all.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    if (threadIdx.x == 0) {
        *out += static_cast<int>(blockIdx.x);
    }
}

int main() {
    constexpr int n = 1;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<8, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
