// SPDX-License-Identifier: MIT
// verdict: race host host_refills_before_the_copy_ends.cu:16 host_refills_before_the_copy_ends.cu:18
// The host writes the next values over those that are still being copied.
#include <cuda_runtime.h>

#include <cstdlib>

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    int *x = nullptr, *host = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMallocHost(&host, 32 * sizeof(int));
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < 32; i++) {
            host[i] = step;
        }
        cudaMemcpyAsync(x, host, 32 * sizeof(int), cudaMemcpyHostToDevice, stream);
    }
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFree(x);
    cudaFreeHost(host);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
