// SPDX-License-Identifier: MIT
// verdict: correct
// The work is captured again with other arguments and another grid, and the executable is updated from it. What has another
// shape is refused, by name, and the executable stays as it was.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int *x = nullptr, *host = nullptr;
    cudaMalloc(&x, 64 * sizeof(int));
    cudaMallocHost(&host, 64 * sizeof(int));

    const auto capture = [&](int blocks, int value, int fills) {
        cudaGraph_t graph = nullptr;
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
        for (int i = 0; i < fills; i++) { fill<<<blocks, 32, 0, stream>>>(x, value); }
        cudaMemcpyAsync(host, x, 64 * sizeof(int), cudaMemcpyDeviceToHost, stream);
        cudaStreamEndCapture(stream, &graph);
        return graph;
    };
    cudaMemsetAsync(x, 0, 64 * sizeof(int), stream);
    cudaGraph_t graph = capture(1, 1, 1);
    cudaGraphExec_t executable = nullptr;
    bool right = cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess;
    cudaGraphDestroy(graph);
    right = right && cudaGraphLaunch(executable, stream) == cudaSuccess;
    right = right && cudaStreamSynchronize(stream) == cudaSuccess && host[31] == 1 && host[63] == 0;

    cudaGraphExecUpdateResultInfo info = {};
    graph = capture(2, 2, 1);
    right = right && cudaGraphExecUpdate(executable, graph, &info) == cudaSuccess;
    right = right && info.result == cudaGraphExecUpdateSuccess;
    cudaGraphDestroy(graph);
    right = right && cudaGraphLaunch(executable, stream) == cudaSuccess;
    right = right && cudaStreamSynchronize(stream) == cudaSuccess && host[0] == 2 && host[63] == 2;

    graph = capture(2, 3, 2);
    right = right && cudaGraphExecUpdate(executable, graph, &info) == cudaErrorGraphExecUpdateFailure;
    right = right && info.result == cudaGraphExecUpdateErrorTopologyChanged;
    cudaGetLastError();
    cudaGraphDestroy(graph);
    right = right && cudaGraphLaunch(executable, stream) == cudaSuccess;
    right = right && cudaStreamSynchronize(stream) == cudaSuccess && host[0] == 2 && host[63] == 2;
    cudaGraphExecDestroy(executable);
    cudaStreamDestroy(stream);
    cudaFree(x);
    cudaFreeHost(host);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
