// SPDX-License-Identifier: MIT
// verdict: race streams halves_of_two_streams_overlap.cu:9 halves_of_two_streams_overlap.cu:9
// The second stream's half begins one row too early.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void rows(int* x, int value) {
    x[blockIdx.x * 32 + threadIdx.x] = value;
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    int* x = nullptr;
    cudaMalloc(&x, 8 * 32 * sizeof(int));
    rows<<<4, 32, 0, first>>>(x, 1);
    rows<<<5, 32, 0, second>>>(x + 3 * 32, 2);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
