// SPDX-License-Identifier: MIT
// verdict: race global lock_without_fences.cu:12 lock_without_fences.cu:12
// Who takes the lock may still see what was there before.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    int* lock = out;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    out[1] = out[1] + 1;
    atomicExch(lock, 0);
}

int main() {
    constexpr int n = 2;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<20, 1>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
