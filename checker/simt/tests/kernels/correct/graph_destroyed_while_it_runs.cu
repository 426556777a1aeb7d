// SPDX-License-Identifier: MIT
// verdict: correct
// Graph and executable are destroyed while a launch is under way, which still ends.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[threadIdx.x] = value;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int *x = nullptr, host[32];
    cudaMalloc(&x, sizeof host);
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    fill<<<1, 32, 0, stream>>>(x, 4);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphExec_t executable = nullptr;
    bool right = cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess;
    right = right && cudaGraphLaunch(executable, stream) == cudaSuccess;
    right = right && cudaGraphExecDestroy(executable) == cudaSuccess && cudaGraphDestroy(graph) == cudaSuccess;
    right = right && cudaStreamSynchronize(stream) == cudaSuccess;
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaStreamDestroy(stream);
    return right && host[31] == 4 ? EXIT_SUCCESS : EXIT_FAILURE;
}
