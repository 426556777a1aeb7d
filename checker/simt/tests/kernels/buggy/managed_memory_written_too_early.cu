// SPDX-License-Identifier: MIT
// verdict: race host managed_memory_written_too_early.cu:10 managed_memory_written_too_early.cu:22
// The host writes managed memory that a launched kernel has still to read.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void add(int* out, const int* inp, int value) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = inp[i] + value;
}

int main() {
    int *x = nullptr, *out = nullptr;
    cudaMallocManaged(&x, 32 * sizeof(int));
    cudaMallocManaged(&out, 32 * sizeof(int));
    for (int i = 0; i < 32; i++) {
        x[i] = i;
    }
    add<<<1, 32>>>(out, x, 1);
    for (int i = 0; i < 32; i++) {
        x[i] = 0;
    }
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
