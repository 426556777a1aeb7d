// SPDX-License-Identifier: MIT
// verdict: race host graph_replayed_while_the_host_refills.cu:21 graph_replayed_while_the_host_refills.cu:28
// The host writes the next token over the one that the replay before may still have to copy.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void add(int* sum, const int* token) {
    *sum += *token;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int *sum = nullptr, *token = nullptr, *pinned = nullptr;
    cudaMalloc(&sum, sizeof(int));
    cudaMalloc(&token, sizeof(int));
    cudaMallocHost(&pinned, sizeof(int));
    cudaMemsetAsync(sum, 0, sizeof(int), stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(token, pinned, sizeof(int), cudaMemcpyHostToDevice, stream);
    add<<<1, 1, 0, stream>>>(sum, token);
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream, &graph);
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    for (int step = 0; step < 3; step++) {
        *pinned = step;
        cudaGraphLaunch(executable, stream);
    }
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(sum);
    cudaFree(token);
    cudaFreeHost(pinned);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
