// SPDX-License-Identifier: MIT
// verdict: bad_capture capture_with_a_synchronisation_in_it.cu:21
// A function that waits for its stream after each kernel is captured: the capture is invalid from then on, and gives no graph.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void add_one(int* x) {
    x[threadIdx.x] += 1;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int* x = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    for (int i = 0; i < 2; i++) {
        add_one<<<1, 32, 0, stream>>>(x);
        cudaStreamSynchronize(stream);
    }
    const bool captured = cudaStreamEndCapture(stream, &graph) == cudaSuccess;
    cudaGetLastError();
    cudaStreamDestroy(stream);
    cudaFree(x);
    return captured ? EXIT_FAILURE : EXIT_SUCCESS;
}
