// SPDX-License-Identifier: MIT
// verdict: race streams joined_with_one_of_two.cu:9 joined_with_one_of_two.cu:14
// Two streams work for a third one, which waits for one of them only.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void sum(int* out, const int* a, const int* b) {
    const int left = a[threadIdx.x];
    const int right = b[threadIdx.x];
    out[threadIdx.x] = left + right;
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaStream_t third = nullptr;
    cudaStreamCreate(&third);
    cudaEvent_t event = nullptr;
    cudaEventCreate(&event);
    int *a = nullptr, *b = nullptr, *out = nullptr;
    cudaMalloc(&a, 32 * sizeof(int));
    cudaMalloc(&b, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(b, 0, 32 * sizeof(int));
    cudaDeviceSynchronize();
    fill<<<1, 32, 0, first>>>(a, 1);
    fill<<<1, 32, 0, second>>>(b, 2);
    cudaEventRecord(event, first);
    cudaStreamWaitEvent(third, event);
    sum<<<1, 32, 0, third>>>(out, a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    cudaFree(out);
    cudaEventDestroy(event);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaStreamDestroy(third);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
