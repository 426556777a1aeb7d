// SPDX-License-Identifier: MIT
// verdict: correct
// A replay uses the kernel's arguments as they were when the launch was captured: a number of the host that changes later does
// not reach it, one in device memory does. The device cannot know which of the two was meant.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void write(int* out, int by_value, const int* in_memory) {
    out[0] = by_value;
    out[1] = *in_memory;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int *out = nullptr, *position_in_memory = nullptr, position = 1, host[2];
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&position_in_memory, sizeof(int));
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(position_in_memory, &position, sizeof(int), cudaMemcpyHostToDevice, stream);
    write<<<1, 1, 0, stream>>>(out, position, position_in_memory);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphExec_t executable = nullptr;
    bool right = cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess;
    for (; position <= 3; position++) {
        right = right && cudaGraphLaunch(executable, stream) == cudaSuccess;
        right = right && cudaStreamSynchronize(stream) == cudaSuccess;
        cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
        right = right && host[0] == 1 && host[1] == position;
    }
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(out);
    cudaFree(position_in_memory);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
