// SPDX-License-Identifier: MIT
// verdict: use_after_free graph_copies_a_variable_that_is_gone.cu:11
// A function captures the copy of its own parameter: the node keeps the parameter's address, and the function returns.
#include <cuda_runtime.h>

#include <cstdlib>

__attribute__((noinline)) cudaGraph_t capture(int* out, int value, cudaStream_t stream) {
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(out, &value, sizeof(int), cudaMemcpyHostToDevice, stream);
    cudaStreamEndCapture(stream, &graph);
    return graph;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int* x = nullptr;
    cudaMalloc(&x, sizeof(int));
    cudaGraph_t graph = capture(x, 7, stream);
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(x);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
