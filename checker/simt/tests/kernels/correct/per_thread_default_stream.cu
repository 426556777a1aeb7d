// SPDX-License-Identifier: MIT
// verdict: correct
// The per-thread default stream is a blocking one: the legacy stream waits for it.
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
    int *x = nullptr, *y = nullptr, host[32];
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&y, sizeof host);
    fill<<<1, 32, 0, cudaStreamPerThread>>>(x, 6);
    add<<<1, 32, 0, cudaStreamLegacy>>>(y, x, 1);
    cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(y);
    return host[0] == 7 && host[31] == 7 ? EXIT_SUCCESS : EXIT_FAILURE;
}
