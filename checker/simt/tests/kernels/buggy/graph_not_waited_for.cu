// SPDX-License-Identifier: MIT
// verdict: race host graph_not_waited_for.cu:22 graph_not_waited_for.cu:28
// The host reads the logits behind the launch of the graph that copies them, and has not waited for it.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(float* logits, float value) {
    logits[threadIdx.x] = value;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    float *logits = nullptr, *pinned = nullptr;
    cudaMalloc(&logits, 32 * sizeof(float));
    cudaMallocHost(&pinned, 32 * sizeof(float));
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    fill<<<1, 32, 0, stream>>>(logits, 1.0F);
    cudaMemcpyAsync(pinned, logits, 32 * sizeof(float), cudaMemcpyDeviceToHost, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, stream);
    int best = 0;
    for (int i = 0; i < 32; i++) {
        best = pinned[i] > pinned[best] ? i : best;
    }
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(logits);
    cudaFreeHost(pinned);
    return cudaGetLastError() == cudaSuccess && best < 32 ? EXIT_SUCCESS : EXIT_FAILURE;
}
