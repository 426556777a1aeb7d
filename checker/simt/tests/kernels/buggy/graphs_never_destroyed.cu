// SPDX-License-Identifier: MIT
// verdict: leak graphs_never_destroyed.cu:23
// verdict: leak graphs_never_destroyed.cu:25
// A new graph and a new executable for each token, and none is destroyed.
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
    cudaMemsetAsync(x, 0, 32 * sizeof(int), stream);
    for (int token = 0; token < 3; token++) {
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
        add_one<<<1, 32, 0, stream>>>(x);
        cudaGraph_t graph = nullptr;
        cudaStreamEndCapture(stream, &graph);
        cudaGraphExec_t executable = nullptr;
        cudaGraphInstantiate(&executable, graph, 0);
        cudaGraphLaunch(executable, stream);
    }
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFree(x);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
