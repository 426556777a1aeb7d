// SPDX-License-Identifier: MIT
// verdict: correct
// bug: missing_synchronisation
// The host reads pinned memory right after cudaMemcpyAsync.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(float* x) {
    x[threadIdx.x] = 1.0F;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    float *x = nullptr, *host = nullptr;
    cudaMalloc(&x, 32 * sizeof(float));
    cudaMallocHost(&host, 32 * sizeof(float));
    fill<<<1, 32, 0, stream>>>(x);
    cudaMemcpyAsync(host, x, 32 * sizeof(float), cudaMemcpyDeviceToHost, stream);
    const bool arrived = host[31] == 1.0F;
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFree(x);
    cudaFreeHost(host);
    if (!arrived) {
        return EXIT_SUCCESS;
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
