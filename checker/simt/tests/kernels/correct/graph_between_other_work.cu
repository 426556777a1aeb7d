// SPDX-License-Identifier: MIT
// verdict: correct
// A graph with two roots and two ends, in a stream between a kernel before it and one behind it; an event behind it orders
// another stream.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void scale(int* x, int factor) {
    x[threadIdx.x] *= factor;
}

__global__ void add(int* sum, const int* a, const int* b) {
    sum[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEvent_t done = nullptr;
    cudaEventCreate(&done, cudaEventDisableTiming);
    int *x = nullptr, *sum = nullptr, host[32];
    cudaMalloc(&x, 64 * sizeof(int));
    cudaMalloc(&sum, 32 * sizeof(int));

    cudaGraph_t graph = nullptr;
    bool right = cudaGraphCreate(&graph, 0) == cudaSuccess;
    for (int half = 0; half < 2; half++) {
        int *part = x + 32 * half, factor = 2 + half;
        void* arguments[] = {&part, &factor};
        cudaKernelNodeParams launch = {};
        launch.func = reinterpret_cast<void*>(scale);
        launch.gridDim = dim3(1);
        launch.blockDim = dim3(32);
        launch.kernelParams = arguments;
        cudaGraphNode_t node = nullptr;
        right = right && cudaGraphAddKernelNode(&node, graph, nullptr, 0, &launch) == cudaSuccess;
    }
    cudaGraphExec_t executable = nullptr;
    right = right && cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess;

    cudaMemsetAsync(x, 1, 64 * sizeof(int), first);
    scale<<<1, 64, 0, first>>>(x, 5);
    right = right && cudaGraphLaunch(executable, first) == cudaSuccess;
    add<<<1, 32, 0, first>>>(sum, x, x + 32);
    right = right && cudaGraphLaunch(executable, first) == cudaSuccess;
    cudaEventRecord(done, first);
    cudaStreamWaitEvent(second, done, 0);
    scale<<<1, 64, 0, second>>>(x, 0);
    cudaMemcpyAsync(host, sum, sizeof host, cudaMemcpyDeviceToHost, second);
    right = right && cudaStreamSynchronize(second) == cudaSuccess;
    right = right && host[0] == 25 * 0x1010101 && host[31] == 25 * 0x1010101;
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaEventDestroy(done);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(x);
    cudaFree(sum);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
