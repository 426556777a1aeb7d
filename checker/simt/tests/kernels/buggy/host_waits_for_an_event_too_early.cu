// SPDX-License-Identifier: MIT
// verdict: race host host_waits_for_an_event_too_early.cu:22 host_waits_for_an_event_too_early.cu:24
// The event is recorded before the copy that the host wants.
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
    cudaEvent_t event = nullptr;
    cudaEventCreate(&event);
    fill<<<1, 32, 0, stream>>>(x, 1);
    cudaEventRecord(event, stream);
    cudaMemcpyAsync(host, x, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaEventSynchronize(event);
    const bool arrived = host[0] == 1;
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFree(x);
    cudaFreeHost(host);
    cudaEventDestroy(event);
    return arrived ? EXIT_SUCCESS : EXIT_FAILURE;
}
