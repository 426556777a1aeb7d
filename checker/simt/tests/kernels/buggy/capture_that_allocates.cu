// SPDX-License-Identifier: MIT
// verdict: bad_capture capture_that_allocates.cu:18
// A workspace is allocated at its first use, which happens to be in a capture: cudaMalloc is no operation of a stream.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[threadIdx.x] = value;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int* workspace = nullptr;
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    const bool allocated = cudaMalloc(&workspace, 32 * sizeof(int)) == cudaSuccess;
    if (allocated) {
        fill<<<1, 32, 0, stream>>>(workspace, 1);
    }
    const bool captured = cudaStreamEndCapture(stream, &graph) == cudaSuccess;
    cudaGetLastError();
    cudaStreamDestroy(stream);
    cudaFree(workspace);
    return captured ? EXIT_FAILURE : EXIT_SUCCESS;
}
