// SPDX-License-Identifier: MIT
// verdict: correct
// A capture forks into a second stream by an event and joins it by another one: two kernels that nothing orders, between a
// memset and a kernel that reads what both have written.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[threadIdx.x] += value;
}

__global__ void add(int* sum, const int* a, const int* b) {
    sum[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEvent_t fork = nullptr, join = nullptr;
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
    int *halves = nullptr, *sum = nullptr, host[32];
    cudaMalloc(&halves, 64 * sizeof(int));
    cudaMalloc(&sum, 32 * sizeof(int));

    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    cudaMemsetAsync(halves, 0, 64 * sizeof(int), first);
    cudaEventRecord(fork, first);
    cudaStreamWaitEvent(second, fork, 0);
    fill<<<1, 32, 0, first>>>(halves, 1);
    fill<<<1, 32, 0, second>>>(halves + 32, 2);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    bool right = cudaStreamIsCapturing(second, &status) == cudaSuccess && status == cudaStreamCaptureStatusActive;
    cudaEventRecord(join, second);
    cudaStreamWaitEvent(first, join, 0);
    add<<<1, 32, 0, first>>>(sum, halves, halves + 32);
    right = right && cudaStreamEndCapture(first, &graph) == cudaSuccess;
    right = right && cudaStreamIsCapturing(second, &status) == cudaSuccess && status == cudaStreamCaptureStatusNone;

    // The events order others and are no nodes.
    std::size_t nodes = 0, roots = 0, edges = 0;
    right = right && cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess && nodes == 4;
    right = right && cudaGraphGetRootNodes(graph, nullptr, &roots) == cudaSuccess && roots == 1;
#if CUDART_VERSION >= 13000
    right = right && cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges) == cudaSuccess && edges == 4;
#else
    right = right && cudaGraphGetEdges(graph, nullptr, nullptr, &edges) == cudaSuccess && edges == 4;
#endif

    cudaGraphExec_t executable = nullptr;
    right = right && cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess;
    for (int replay = 0; replay < 3; replay++) { cudaGraphLaunch(executable, first); }
    cudaMemcpyAsync(host, sum, sizeof host, cudaMemcpyDeviceToHost, first);
    right = right && cudaStreamSynchronize(first) == cudaSuccess && host[0] == 3 && host[31] == 3;
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(halves);
    cudaFree(sum);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
