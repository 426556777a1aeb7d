// SPDX-License-Identifier: MIT
// verdict: correct
// Memory that one stream allocates is freed in another one, behind an event.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaEvent_t used = nullptr;
    cudaEventCreate(&used);
    int *x = nullptr, host[32];
    cudaMallocAsync(&x, sizeof host, first);
    fill<<<1, 32, 0, first>>>(x, 8);
    cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, first);
    cudaEventRecord(used, first);
    cudaStreamWaitEvent(second, used);
    cudaFreeAsync(x, second);
    cudaDeviceSynchronize();
    cudaEventDestroy(used);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    return host[31] == 8 ? EXIT_SUCCESS : EXIT_FAILURE;
}
