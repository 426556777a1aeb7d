// SPDX-License-Identifier: MIT
// verdict: correct
// Part of the L2 cache is set aside for a table that each launch reads: by the stream, by one launch, and by a node of a graph.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void look_up(float* out, const float* table, const int* tokens) {
    out[threadIdx.x] += table[tokens[threadIdx.x]];
}

#define EXPECT(condition)                                 \
    do {                                                  \
        if (!(condition)) {                               \
            std::printf("line %d does not hold\n", __LINE__); \
            return EXIT_FAILURE;                          \
        }                                                 \
    } while (0)

int main() {
    constexpr std::size_t bytes = 32 * sizeof(float);
    int most = -1, widest = -1;
    EXPECT(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, 0) == cudaSuccess && most >= 0);
    EXPECT(cudaDeviceGetAttribute(&widest, cudaDevAttrMaxAccessPolicyWindowSize, 0) == cudaSuccess && widest >= 0);
    std::size_t limit = 1;
    EXPECT(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, static_cast<std::size_t>(most)) == cudaSuccess);
    EXPECT(cudaDeviceGetLimit(&limit, cudaLimitPersistingL2CacheSize) == cudaSuccess);
    EXPECT(limit >= static_cast<std::size_t>(most));

    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    float *out = nullptr, *table = nullptr, host[32];
    int* tokens = nullptr;
    cudaMalloc(&out, bytes);
    cudaMalloc(&table, bytes);
    cudaMalloc(&tokens, 32 * sizeof(int));
    for (float& value : host) { value = 1.5F; }
    cudaMemcpyAsync(table, host, bytes, cudaMemcpyHostToDevice, stream);
    cudaMemsetAsync(tokens, 0, 32 * sizeof(int), stream);
    cudaMemsetAsync(out, 0, bytes, stream);

    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeAccessPolicyWindow;
    cudaAccessPolicyWindow& window = attribute.val.accessPolicyWindow;
    window.base_ptr = table;
    window.num_bytes = bytes < static_cast<std::size_t>(widest) ? bytes : static_cast<std::size_t>(widest);
    window.hitRatio = 1.0F;
    window.hitProp = cudaAccessPropertyPersisting;
    window.missProp = cudaAccessPropertyStreaming;
    cudaStreamAttrValue by_stream = {};
    by_stream.accessPolicyWindow = window;
    EXPECT(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &by_stream) == cudaSuccess);
    look_up<<<1, 32, 0, stream>>>(out, table, tokens);
    by_stream.accessPolicyWindow.num_bytes = 0;  // none
    EXPECT(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &by_stream) == cudaSuccess);

    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    EXPECT(cudaLaunchKernelEx(&config, look_up, out, static_cast<const float*>(table),
                              static_cast<const int*>(tokens)) == cudaSuccess);

    // A launch that is captured takes its attributes along.
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    EXPECT(cudaLaunchKernelEx(&config, look_up, out, static_cast<const float*>(table),
                              static_cast<const int*>(tokens)) == cudaSuccess);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    cudaGraphNode_t node = nullptr;
    std::size_t count = 1;
    EXPECT(cudaGraphGetNodes(graph, &node, &count) == cudaSuccess && count == 1);
    cudaKernelNodeAttrValue by_node = {};
    EXPECT(cudaGraphKernelNodeGetAttribute(node, cudaKernelNodeAttributeAccessPolicyWindow, &by_node) == cudaSuccess);
    EXPECT(by_node.accessPolicyWindow.hitProp == cudaAccessPropertyPersisting);
    by_node.accessPolicyWindow.hitRatio = 0.5F;
    EXPECT(cudaGraphKernelNodeSetAttribute(node, cudaKernelNodeAttributeAccessPolicyWindow, &by_node) == cudaSuccess);
    EXPECT(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
    EXPECT(cudaGraphLaunch(executable, stream) == cudaSuccess);
    cudaMemcpyAsync(host, out, bytes, cudaMemcpyDeviceToHost, stream);
    EXPECT(cudaStreamSynchronize(stream) == cudaSuccess && host[0] == 4.5F && host[31] == 4.5F);

    EXPECT(cudaCtxResetPersistingL2Cache() == cudaSuccess);
    EXPECT(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0) == cudaSuccess);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(out);
    cudaFree(table);
    cudaFree(tokens);
    return EXIT_SUCCESS;
}
