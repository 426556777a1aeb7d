// SPDX-License-Identifier: MIT
// verdict: race global flag_with_a_fence_for_the_block.cu:12 flag_with_a_fence_for_the_block.cu:19
// __threadfence_block() orders memory for threads of the same block only.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    int* data = out;
    volatile int* flag = out + 1;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence_block();
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        __threadfence();
        out[2] = *data;
    }
}

int main() {
    constexpr int n = 4;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<2, 1>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
