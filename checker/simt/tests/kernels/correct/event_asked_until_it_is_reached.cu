// SPDX-License-Identifier: MIT
// verdict: correct
// The host asks an event again and again, and reads when it has been reached.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaEvent_t done = nullptr;
    cudaStreamCreate(&stream);
    cudaEventCreate(&done);
    int *x = nullptr, *host = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMallocHost(&host, 32 * sizeof(int));
    fill<<<1, 32, 0, stream>>>(x, 9);
    cudaMemcpyAsync(host, x, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaEventRecord(done, stream);
    long asked = 0;
    while (cudaEventQuery(done) == cudaErrorNotReady) {
        asked++;
    }
    cudaGetLastError();
    const bool right = host[0] == 9 && host[31] == 9 && asked >= 0;
    cudaFree(x);
    cudaFreeHost(host);
    cudaEventDestroy(done);
    cudaStreamDestroy(stream);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
