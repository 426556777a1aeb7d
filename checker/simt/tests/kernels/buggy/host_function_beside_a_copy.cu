// SPDX-License-Identifier: MIT
// verdict: race streams host_function_beside_a_copy.cu:11 host_function_beside_a_copy.cu:23
// A host function in one stream fills what a copy in another one reads.
#include <cuda_runtime.h>

#include <cstdlib>

void fill(void* data) {
    auto* values = static_cast<int*>(data);
    for (int i = 0; i < 32; i++) {
        values[i] = i;
    }
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    int *x = nullptr, *host = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMallocHost(&host, 32 * sizeof(int));
    cudaLaunchHostFunc(first, fill, host);
    cudaMemcpyAsync(x, host, 32 * sizeof(int), cudaMemcpyHostToDevice, second);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFreeHost(host);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
