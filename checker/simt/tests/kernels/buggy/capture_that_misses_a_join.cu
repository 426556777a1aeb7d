// SPDX-License-Identifier: MIT
// verdict: bad_capture capture_that_misses_a_join.cu:28
// A second stream is forked off the capture by an event, and never joined to the first one again.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[threadIdx.x] = value;
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEvent_t fork = nullptr, done = nullptr;
    cudaEventCreate(&fork);
    cudaEventCreate(&done);
    int* x = nullptr;
    cudaMalloc(&x, 64 * sizeof(int));
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, first);
    cudaStreamWaitEvent(second, fork, 0);
    fill<<<1, 32, 0, first>>>(x, 1);
    fill<<<1, 32, 0, second>>>(x + 32, 2);
    cudaEventRecord(done, second);
    const bool captured = cudaStreamEndCapture(first, &graph) == cudaSuccess;
    cudaGetLastError();
    cudaEventDestroy(fork);
    cudaEventDestroy(done);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(x);
    return captured ? EXIT_FAILURE : EXIT_SUCCESS;
}
