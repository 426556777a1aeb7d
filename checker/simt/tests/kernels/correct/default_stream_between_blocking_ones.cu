// SPDX-License-Identifier: MIT
// verdict: correct
// The legacy default stream waits for blocking streams, and they for it.
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
    int *x = nullptr, *y = nullptr, host[32];
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&y, sizeof host);
    fill<<<1, 32, 0, first>>>(x, 1);
    add<<<1, 32>>>(y, x, 10);
    add<<<1, 32, 0, second>>>(x, y, 100);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(y);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    return host[0] == 111 && host[31] == 111 ? EXIT_SUCCESS : EXIT_FAILURE;
}
