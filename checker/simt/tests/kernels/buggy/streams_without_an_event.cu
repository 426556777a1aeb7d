// SPDX-License-Identifier: MIT
// verdict: race streams streams_without_an_event.cu:9 streams_without_an_event.cu:14
// A kernel in one stream reads what a kernel in another one writes, and nothing orders them.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void add(int* out, const int* inp, int value) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = inp[i] + value;
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    int *x = nullptr, *out = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(x, 0, 32 * sizeof(int));
    cudaMemset(out, 0, 32 * sizeof(int));
    cudaDeviceSynchronize();
    fill<<<1, 32, 0, first>>>(x, 1);
    add<<<1, 32, 0, second>>>(out, x, 1);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(out);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
