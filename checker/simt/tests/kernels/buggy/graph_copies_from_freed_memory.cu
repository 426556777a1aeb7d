// SPDX-License-Identifier: MIT
// verdict: use_after_free graph_copies_from_freed_memory.cu:17
// A node copies out of a buffer that is freed before the replay.
#include <cuda_runtime.h>

#include <cstdlib>

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int *x = nullptr, *host = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMallocHost(&host, 32 * sizeof(int));
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemsetAsync(x, 0, 16 * sizeof(int), stream);
    cudaMemcpyAsync(host, x, 16 * sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphNode_t nodes[2] = {};
    std::size_t count = 2;
    cudaGraphGetRootNodes(graph, nodes, &count);
    cudaGraphNodeSetEnabled(executable, nodes[0], 0);  // not the memset
    cudaFree(x);
    cudaGraphLaunch(executable, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFreeHost(host);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
