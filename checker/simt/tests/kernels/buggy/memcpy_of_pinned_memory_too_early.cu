// SPDX-License-Identifier: MIT
// verdict: race host memcpy_of_pinned_memory_too_early.cu:21 memcpy_of_pinned_memory_too_early.cu:22
// The host's memcpy takes pinned memory before the copy into it has ended.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>

__global__ void fill(int* x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    int *x = nullptr, *host = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMallocHost(&host, 32 * sizeof(int));
    int own[32];
    fill<<<1, 32, 0, stream>>>(x, 1);
    cudaMemcpyAsync(host, x, sizeof own, cudaMemcpyDeviceToHost, stream);
    std::memcpy(own, host, sizeof own);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFree(x);
    cudaFreeHost(host);
    return own[0] == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
