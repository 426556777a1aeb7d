// SPDX-License-Identifier: MIT
// verdict: use_after_free global graph_replayed_on_freed_memory.cu:10
// The workspace that was there while the graph was captured is freed before the replay. It was a local object of the function
// that captures.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void add(int* out, const int* workspace) {
    out[threadIdx.x] += workspace[threadIdx.x];
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int *out = nullptr, *workspace = nullptr;
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMalloc(&workspace, 32 * sizeof(int));
    cudaMemsetAsync(out, 0, 32 * sizeof(int), stream);
    cudaMemsetAsync(workspace, 0, 32 * sizeof(int), stream);
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    add<<<1, 32, 0, stream>>>(out, workspace);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, stream);
    cudaStreamSynchronize(stream);
    cudaFree(workspace);
    cudaGraphLaunch(executable, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
