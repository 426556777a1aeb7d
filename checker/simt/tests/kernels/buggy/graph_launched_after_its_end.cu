// SPDX-License-Identifier: MIT
// verdict: use_after_free graph_launched_after_its_end.cu:25
// The executable of the last length is destroyed before its last launch.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[threadIdx.x] = value;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int* x = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    fill<<<1, 32, 0, stream>>>(x, 1);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
    cudaGraphExecDestroy(executable);
    const bool launched = cudaGraphLaunch(executable, stream) == cudaSuccess;
    cudaGetLastError();
    cudaStreamDestroy(stream);
    cudaFree(x);
    return launched ? EXIT_FAILURE : EXIT_SUCCESS;
}
