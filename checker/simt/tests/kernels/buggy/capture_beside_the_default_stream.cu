// SPDX-License-Identifier: MIT
// verdict: bad_capture capture_beside_the_default_stream.cu:26
// While a blocking stream is captured, a kernel goes to the default stream by mistake, which would have to wait for it.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void add_one(int* x) {
    x[threadIdx.x] += 1;
}

__global__ void twice(int* x) {
    x[threadIdx.x] *= 2;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    int* x = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMemset(x, 0, 32 * sizeof(int));
    cudaGraph_t graph = nullptr;
    cudaDeviceSynchronize();
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    add_one<<<1, 32, 0, stream>>>(x);
    twice<<<1, 32>>>(x);
    const bool captured = cudaStreamEndCapture(stream, &graph) == cudaSuccess;
    cudaGetLastError();
    cudaStreamDestroy(stream);
    cudaFree(x);
    return captured ? EXIT_FAILURE : EXIT_SUCCESS;
}
