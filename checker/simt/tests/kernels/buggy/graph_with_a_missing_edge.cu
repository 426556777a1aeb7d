// SPDX-License-Identifier: MIT
// verdict: race graph graph_with_a_missing_edge.cu:9 graph_with_a_missing_edge.cu:13
// The capture's second stream is forked off too early: its kernel reads what the first one's kernel writes.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[threadIdx.x] = value;
}

__global__ void add_one(int* out, const int* inp) {
    out[threadIdx.x] = inp[threadIdx.x] + 1;
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEvent_t fork = nullptr, join = nullptr;
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    int *x = nullptr, *out = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(x, 0, 32 * sizeof(int));
    cudaDeviceSynchronize();
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, first);
    fill<<<1, 32, 0, first>>>(x, 1);
    cudaStreamWaitEvent(second, fork, 0);
    add_one<<<1, 32, 0, second>>>(out, x);
    cudaEventRecord(join, second);
    cudaStreamWaitEvent(first, join, 0);
    cudaStreamEndCapture(first, &graph);
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, first);
    cudaStreamSynchronize(first);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(x);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
