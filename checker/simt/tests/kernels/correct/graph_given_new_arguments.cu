// SPDX-License-Identifier: MIT
// verdict: correct
// Between replays a kernel's node in the executable gets another factor, a copy's node another target. Launches that are
// under way keep what they had.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void scale(int* x, int factor) {
    x[threadIdx.x] *= factor;
}

int main() {
    constexpr std::size_t bytes = 32 * sizeof(int);
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int *x = nullptr, *host = nullptr;
    cudaMalloc(&x, bytes);
    cudaMallocHost(&host, 2 * bytes);
    cudaMemsetAsync(x, 1, bytes, stream);

    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    scale<<<1, 32, 0, stream>>>(x, 3);
    cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphNode_t nodes[2];
    std::size_t count = 2;
    bool right = cudaGraphGetNodes(graph, nodes, &count) == cudaSuccess && count == 2;
    cudaGraphNodeType type;
    right = right && cudaGraphNodeGetType(nodes[0], &type) == cudaSuccess;
    cudaGraphNode_t kernel = nodes[type == cudaGraphNodeTypeKernel ? 0 : 1];
    cudaGraphNode_t copy = nodes[type == cudaGraphNodeTypeKernel ? 1 : 0];

    cudaGraphExec_t executable = nullptr;
    right = right && cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess;
    right = right && cudaGraphLaunch(executable, stream) == cudaSuccess;

    cudaKernelNodeParams launch = {};
    right = right && cudaGraphKernelNodeGetParams(kernel, &launch) == cudaSuccess;
    right = right && launch.blockDim.x == 32 && *static_cast<int*>(launch.kernelParams[1]) == 3;
    int factor = 5;
    void* arguments[] = {launch.kernelParams[0], &factor};
    launch.kernelParams = arguments;
    right = right && cudaGraphExecKernelNodeSetParams(executable, kernel, &launch) == cudaSuccess;
    factor = 7;
    right = right && cudaGraphExecMemcpyNodeSetParams1D(executable, copy, host + 32, x, bytes,
                                                        cudaMemcpyDeviceToHost) == cudaSuccess;
    right = right && cudaGraphLaunch(executable, stream) == cudaSuccess;
    right = right && cudaStreamSynchronize(stream) == cudaSuccess;
    right = right && host[0] == 3 * 0x1010101 && host[63] == 15 * 0x1010101;

    // The node itself is as it was.
    right = right && cudaGraphKernelNodeGetParams(kernel, &launch) == cudaSuccess;
    right = right && *static_cast<int*>(launch.kernelParams[1]) == 3;
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(x);
    cudaFreeHost(host);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
