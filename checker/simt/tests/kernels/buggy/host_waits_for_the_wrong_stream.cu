// SPDX-License-Identifier: MIT
// verdict: race host host_waits_for_the_wrong_stream.cu:20 host_waits_for_the_wrong_stream.cu:22
// The host waits for one stream and reads what the other one copies.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    int *x = nullptr, *host = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMallocHost(&host, 32 * sizeof(int));
    fill<<<1, 32, 0, first>>>(x, 1);
    cudaMemcpyAsync(host, x, 32 * sizeof(int), cudaMemcpyDeviceToHost, first);
    cudaStreamSynchronize(second);
    const bool arrived = host[0] == 1;
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFreeHost(host);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    return arrived ? EXIT_SUCCESS : EXIT_FAILURE;
}
