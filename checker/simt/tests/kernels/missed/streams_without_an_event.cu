// SPDX-License-Identifier: MIT
// verdict: correct
// bug: missing_synchronisation
// A kernel in one stream reads what a kernel in another one writes, and nothing orders them.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(float* x) {
    x[threadIdx.x] = 1.0F;
}

__global__ void twice(float* out, const float* inp) {
    out[threadIdx.x] = 2.0F * inp[threadIdx.x];
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    float *x = nullptr, *out = nullptr;
    cudaMalloc(&x, 32 * sizeof(float));
    cudaMalloc(&out, 32 * sizeof(float));
    fill<<<1, 32, 0, first>>>(x);
    twice<<<1, 32, 0, second>>>(out, x);
    cudaDeviceSynchronize();
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(x);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
