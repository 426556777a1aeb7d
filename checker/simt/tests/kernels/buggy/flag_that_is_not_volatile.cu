// SPDX-License-Identifier: MIT
// verdict: race global flag_that_is_not_volatile.cu:14 flag_that_is_not_volatile.cu:16
// The flag is written with a plain store.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    int* data = out;
    volatile int* flag = out + 1;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        out[1] = 1;
    } else {
        while (*flag == 0) {
        }
        out[2] = 1;
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
