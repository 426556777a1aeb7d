// SPDX-License-Identifier: MIT
// verdict: correct
// A capture in relaxed mode, in which the host may allocate memory; and one in global mode, whose thread asks for relaxed mode
// while it allocates. The allocation happens at once and is no node.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[threadIdx.x] = value;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int *x = nullptr, *y = nullptr, host[32];

    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    bool right = cudaMalloc(&x, 32 * sizeof(int)) == cudaSuccess;
    fill<<<1, 32, 0, stream>>>(x, 1);
    right = right && cudaStreamEndCapture(stream, &graph) == cudaSuccess;
    cudaGraphDestroy(graph);

    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    right = right && cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess && mode == cudaStreamCaptureModeGlobal;
    right = right && cudaMalloc(&y, 32 * sizeof(int)) == cudaSuccess;
    right = right && cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess && mode == cudaStreamCaptureModeRelaxed;
    fill<<<1, 32, 0, stream>>>(x, 1);
    fill<<<1, 32, 0, stream>>>(y, 2);
    right = right && cudaStreamEndCapture(stream, &graph) == cudaSuccess;
    std::size_t nodes = 0;
    right = right && cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess && nodes == 2;

    cudaGraphExec_t executable = nullptr;
    right = right && cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess;
    right = right && cudaGraphLaunch(executable, stream) == cudaSuccess;
    right = right && cudaStreamSynchronize(stream) == cudaSuccess;
    cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
    right = right && host[31] == 2;
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(x);
    cudaFree(y);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
