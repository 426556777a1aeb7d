// SPDX-License-Identifier: MIT
// verdict: race streams memset_beside_a_non_blocking_stream.cu:9 memset_beside_a_non_blocking_stream.cu:19
// cudaMemset works in the default stream, for which a non-blocking stream does not wait.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void count(int* total) {
    atomicAdd(total, 1);
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int* total = nullptr;
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 1, sizeof(int));
    cudaDeviceSynchronize();
    cudaMemset(total, 0, sizeof(int));
    count<<<1, 32, 0, stream>>>(total);
    cudaDeviceSynchronize();
    cudaFree(total);
    cudaStreamDestroy(stream);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
