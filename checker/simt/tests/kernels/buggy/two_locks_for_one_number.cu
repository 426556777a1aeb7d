// SPDX-License-Identifier: MIT
// verdict: race global two_locks_for_one_number.cu:13 two_locks_for_one_number.cu:13
// Even and odd blocks take different locks.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    int* lock = out + blockIdx.x % 2;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    out[2] = out[2] + 1;
    __threadfence();
    atomicExch(lock, 0);
}

int main() {
    constexpr int n = 3;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<20, 1>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
