// SPDX-License-Identifier: MIT
// verdict: race streams event_never_recorded.cu:9 event_never_recorded.cu:14
// A wait for an event that was never recorded waits for nothing.
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
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaEvent_t event = nullptr;
    cudaEventCreate(&event);
    int *x = nullptr, *out = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(x, 0, 32 * sizeof(int));
    cudaMemset(out, 0, 32 * sizeof(int));
    cudaDeviceSynchronize();
    fill<<<1, 32, 0, first>>>(x, 1);
    cudaStreamWaitEvent(second, event);
    add<<<1, 32, 0, second>>>(out, x, 1);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(out);
    cudaEventDestroy(event);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
