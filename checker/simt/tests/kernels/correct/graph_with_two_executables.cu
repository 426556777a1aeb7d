// SPDX-License-Identifier: MIT
// verdict: correct
// Two executables of one graph, each with a buffer of its own, run side by side in two streams. Two launches of one
// executable in two streams come one after the other.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void add_one(int* x) {
    x[threadIdx.x] += 1;
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    int *x = nullptr, *y = nullptr, host[64];
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMalloc(&y, 32 * sizeof(int));
    cudaMemset(x, 0, 32 * sizeof(int));
    cudaMemset(y, 0, 32 * sizeof(int));
    cudaDeviceSynchronize();

    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    bool right = cudaGraphCreate(&graph, 0) == cudaSuccess;
    void* arguments[] = {&x};
    cudaKernelNodeParams launch = {};
    launch.func = reinterpret_cast<void*>(add_one);
    launch.gridDim = dim3(1);
    launch.blockDim = dim3(32);
    launch.kernelParams = arguments;
    right = right && cudaGraphAddKernelNode(&node, graph, nullptr, 0, &launch) == cudaSuccess;
    cudaGraphExec_t of_x = nullptr, of_y = nullptr;
    right = right && cudaGraphInstantiate(&of_x, graph, 0) == cudaSuccess;
    right = right && cudaGraphInstantiate(&of_y, graph, 0) == cudaSuccess;
    arguments[0] = &y;
    right = right && cudaGraphExecKernelNodeSetParams(of_y, node, &launch) == cudaSuccess;

    right = right && cudaGraphLaunch(of_x, first) == cudaSuccess;
    right = right && cudaGraphLaunch(of_y, second) == cudaSuccess;
    right = right && cudaGraphLaunch(of_x, second) == cudaSuccess;  // behind its launch in the first stream
    right = right && cudaDeviceSynchronize() == cudaSuccess;
    cudaMemcpy(host, x, 32 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(host + 32, y, 32 * sizeof(int), cudaMemcpyDeviceToHost);
    right = right && host[0] == 2 && host[31] == 2 && host[32] == 1 && host[63] == 1;
    cudaGraphExecDestroy(of_x);
    cudaGraphExecDestroy(of_y);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(x);
    cudaFree(y);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
