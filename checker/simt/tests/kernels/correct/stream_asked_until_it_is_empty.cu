// SPDX-License-Identifier: MIT
// verdict: correct
// The host asks a stream until its work is done.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int* x = nullptr;
    cudaMallocManaged(&x, 64 * sizeof(int));
    fill<<<1, 32, 0, stream>>>(x, 1);
    fill<<<1, 32, 0, stream>>>(x + 32, 2);
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
    cudaGetLastError();
    const bool right = x[0] == 1 && x[63] == 2;
    cudaFree(x);
    cudaStreamDestroy(stream);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
