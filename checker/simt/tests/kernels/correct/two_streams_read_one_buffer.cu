// SPDX-License-Identifier: MIT
// verdict: correct
// Two streams read one buffer at the same time.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void add(int* out, const int* inp, int value) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = inp[i] + value;
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    int *x = nullptr, *a = nullptr, *b = nullptr, host[2][32];
    cudaMalloc(&x, sizeof host[0]);
    cudaMalloc(&a, sizeof host[0]);
    cudaMalloc(&b, sizeof host[0]);
    cudaMemset(x, 0, sizeof host[0]);
    cudaDeviceSynchronize();
    add<<<1, 32, 0, first>>>(a, x, 1);
    add<<<1, 32, 0, second>>>(b, x, 2);
    cudaMemcpyAsync(host[0], a, sizeof host[0], cudaMemcpyDeviceToHost, first);
    cudaMemcpyAsync(host[1], b, sizeof host[1], cudaMemcpyDeviceToHost, second);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(a);
    cudaFree(b);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    return host[0][31] == 1 && host[1][31] == 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
