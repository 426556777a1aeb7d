// SPDX-License-Identifier: MIT
// verdict: race host host_reads_before_the_copy_ends.cu:19 host_reads_before_the_copy_ends.cu:20
// The host reads pinned memory right after cudaMemcpyAsync.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    int *x = nullptr, *host = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMallocHost(&host, 32 * sizeof(int));
    fill<<<1, 32, 0, stream>>>(x, 1);
    cudaMemcpyAsync(host, x, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream);
    const bool arrived = host[31] == 1;
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFree(x);
    cudaFreeHost(host);
    return arrived ? EXIT_SUCCESS : EXIT_FAILURE;
}
