// SPDX-License-Identifier: MIT
// verdict: race global flag_with_the_fence_too_early.cu:13 flag_with_the_fence_too_early.cu:19
// The fence lies before what it should release.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    int* data = out;
    volatile int* flag = out + 1;
    if (blockIdx.x == 0) {
        __threadfence();
        *data = 42;
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
