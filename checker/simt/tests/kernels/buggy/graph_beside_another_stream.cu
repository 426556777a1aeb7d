// SPDX-License-Identifier: MIT
// verdict: race streams graph_beside_another_stream.cu:9 graph_beside_another_stream.cu:13
// A graph runs in one stream, and a kernel in another one reads what it writes.
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
    int *x = nullptr, *out = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(x, 0, 32 * sizeof(int));
    cudaDeviceSynchronize();
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    fill<<<1, 32, 0, first>>>(x, 1);
    cudaStreamEndCapture(first, &graph);
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, first);
    add_one<<<1, 32, 0, second>>>(out, x);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(x);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
