// SPDX-License-Identifier: MIT
// verdict: correct
// Copies from and to pageable memory may be captured, as in NVIDIA's simpleCudaGraphs. A captured one is not staged: each
// replay reads what the memory then holds.
#include <cuda_runtime.h>

#include <cstdlib>

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int *x = nullptr, from[32], to[32];
    cudaMalloc(&x, sizeof from);
    for (int i = 0; i < 32; i++) { from[i] = to[i] = 0; }
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    bool right = cudaMemcpyAsync(x, from, sizeof from, cudaMemcpyHostToDevice, stream) == cudaSuccess;
    right = right && cudaMemcpyAsync(to, x, sizeof to, cudaMemcpyDeviceToHost, stream) == cudaSuccess;
    right = right && cudaStreamEndCapture(stream, &graph) == cudaSuccess;
    cudaGraphExec_t executable = nullptr;
    right = right && cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess;
    for (int replay = 1; replay <= 2; replay++) {
        for (int& value : from) { value += replay; }
        right = right && cudaGraphLaunch(executable, stream) == cudaSuccess;
        right = right && cudaStreamSynchronize(stream) == cudaSuccess && to[31] == replay * (replay + 1) / 2;
    }
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(x);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
