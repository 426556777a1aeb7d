// SPDX-License-Identifier: MIT
// verdict: correct
// Work on two streams, ordered by an event.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void add_one(int* x) {
    x[threadIdx.x] += 1;
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaEvent_t done = nullptr;
    int* x = nullptr;
    int* host = nullptr;
    cudaStreamCreate(&first);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreate(&done);
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMallocHost(&host, 32 * sizeof(int));
    cudaMemsetAsync(x, 0, 32 * sizeof(int), first);
    add_one<<<1, 32, 0, first>>>(x);
    cudaEventRecord(done, first);
    cudaStreamWaitEvent(second, done, 0);
    add_one<<<1, 32, 0, second>>>(x);
    cudaMemcpyAsync(host, x, 32 * sizeof(int), cudaMemcpyDeviceToHost, second);
    cudaStreamSynchronize(second);
    const bool right = host[0] == 2 && host[31] == 2;
    cudaFree(x);
    cudaFreeHost(host);
    cudaEventDestroy(done);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
