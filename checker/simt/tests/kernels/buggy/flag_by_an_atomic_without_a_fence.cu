// SPDX-License-Identifier: MIT
// verdict: race global flag_by_an_atomic_without_a_fence.cu:11 flag_by_an_atomic_without_a_fence.cu:16
// An atomic orders nothing but itself.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    int* data = out;
    if (blockIdx.x == 0) {
        *data = 42;
        atomicExch(out + 1, 1);
    } else {
        while (atomicAdd(out + 1, 0) == 0) {
        }
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
