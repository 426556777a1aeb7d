// SPDX-License-Identifier: MIT
// verdict: bad_capture capture_of_the_default_stream.cu:16
// The legacy default stream cannot be captured.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[threadIdx.x] = value;
}

int main() {
    int* x = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaGraph_t graph = nullptr;
    const bool begun = cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaSuccess;
    fill<<<1, 32>>>(x, 1);
    if (begun) {
        cudaStreamEndCapture(nullptr, &graph);
        cudaGraphDestroy(graph);
    }
    cudaDeviceSynchronize();
    cudaFree(x);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
