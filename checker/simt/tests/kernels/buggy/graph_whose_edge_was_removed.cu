// SPDX-License-Identifier: MIT
// verdict: race graph graph_whose_edge_was_removed.cu:9 graph_whose_edge_was_removed.cu:40
// A graph that is built by hand: the copy's edge to the kernel that overwrites its source is taken away.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[threadIdx.x] = value;
}

int main() {
    int *x = nullptr, *host = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMallocHost(&host, 32 * sizeof(int));
    cudaGraph_t graph = nullptr;
    cudaGraphCreate(&graph, 0);
    cudaGraphNode_t nodes[3] = {};
    const auto add = [&](int node, int value) {
        void* arguments[] = {&x, &value};
        cudaKernelNodeParams launch = {};
        launch.func = reinterpret_cast<void*>(fill);
        launch.gridDim = dim3(1);
        launch.blockDim = dim3(32);
        launch.kernelParams = arguments;
        cudaGraphAddKernelNode(&nodes[node], graph, nullptr, 0, &launch);
    };
    add(0, 1);
    add(2, 2);
#if CUDART_VERSION >= 13000
    const auto depend = [&](int from, int to) {
        cudaGraphAddDependencies(graph, &nodes[from], &nodes[to], nullptr, 1);
    };
#else
    const auto depend = [&](int from, int to) {
        cudaGraphAddDependencies(graph, &nodes[from], &nodes[to], 1);
    };
#endif
    depend(0, 2);
    cudaGraphAddMemcpyNode1D(&nodes[1], graph, &nodes[0], 1, host, x, 32 * sizeof(int), cudaMemcpyDeviceToHost);
    depend(1, 2);
#if CUDART_VERSION >= 13000
    cudaGraphRemoveDependencies(graph, &nodes[1], &nodes[2], nullptr, 1);
#else
    cudaGraphRemoveDependencies(graph, &nodes[1], &nodes[2], 1);
#endif
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, nullptr);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaFree(x);
    cudaFreeHost(host);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
