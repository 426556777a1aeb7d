// SPDX-License-Identifier: MIT
// verdict: race streams atomics_beside_a_plain_read_in_another_stream.cu:9 atomics_beside_a_plain_read_in_another_stream.cu:13
// One stream counts atomically while another one reads the count.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void count(int* total) {
    atomicAdd(total, 1);
}

__global__ void note(int* out, const int* total) {
    out[threadIdx.x] = *total;
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    int *x = nullptr, *out = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(x, 0, 32 * sizeof(int));
    cudaMemset(out, 0, 32 * sizeof(int));
    cudaDeviceSynchronize();
    count<<<4, 32, 0, first>>>(x);
    note<<<1, 32, 0, second>>>(out, x);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(out);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
