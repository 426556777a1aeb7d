// SPDX-License-Identifier: MIT
// verdict: correct
// A graph that the API's functions build: two memsets, a copy in, an empty node behind the three, a kernel, a copy of rows
// out, and a host function.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void add(int* out, const int* a, const int* b, int factor) {
    out[threadIdx.x] = a[threadIdx.x] + factor * b[threadIdx.x];
}

struct Seen {
    const int* values;
    int sum, times;
};

void sum_up(void* data) {
    auto* const seen = static_cast<Seen*>(data);
    seen->sum = 0;
    for (int i = 0; i < 32; i++) { seen->sum += seen->values[i]; }
    seen->times++;
}

int main() {
    constexpr std::size_t bytes = 32 * sizeof(int);
    int *a = nullptr, *b = nullptr, *out = nullptr, *host_in = nullptr, *host_out = nullptr;
    std::size_t pitch = 0;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMallocPitch(&out, &pitch, bytes, 2);
    cudaMallocHost(&host_in, bytes);
    cudaMallocHost(&host_out, bytes);
    for (int i = 0; i < 32; i++) { host_in[i] = i; }
    Seen seen = {host_out, 0, 0};

    cudaGraph_t graph = nullptr;
    bool right = cudaGraphCreate(&graph, 0) == cudaSuccess;
    cudaGraphNode_t before[3], ready, kernel, back, told;
    cudaMemsetParams zeros = {};
    zeros.dst = b;
    zeros.value = 5;
    zeros.elementSize = sizeof(int);
    zeros.width = 32;
    zeros.height = 1;
    right = right && cudaGraphAddMemsetNode(&before[0], graph, nullptr, 0, &zeros) == cudaSuccess;
    cudaMemsetParams rows = {};  // of 16-bit elements
    rows.dst = out;
    rows.pitch = pitch;
    rows.value = 0x101;
    rows.elementSize = 2;
    rows.width = bytes / 2;
    rows.height = 2;
    right = right && cudaGraphAddMemsetNode(&before[1], graph, nullptr, 0, &rows) == cudaSuccess;
    right = right && cudaGraphAddMemcpyNode1D(&before[2], graph, nullptr, 0, a, host_in, bytes,
                                              cudaMemcpyHostToDevice) == cudaSuccess;
    right = right && cudaGraphAddEmptyNode(&ready, graph, before, 3) == cudaSuccess;

    int factor = 2;
    void* arguments[] = {&out, &a, &b, &factor};
    cudaKernelNodeParams launch = {};
    launch.func = reinterpret_cast<void*>(add);
    launch.gridDim = dim3(1);
    launch.blockDim = dim3(32);
    launch.kernelParams = arguments;
    right = right && cudaGraphAddKernelNode(&kernel, graph, &ready, 1, &launch) == cudaSuccess;
    factor = 1000;  // the argument was copied

    // The first half of the first row that the kernel has written, and the first half of the second one.
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(out, pitch, bytes, 2);
    copy.dstPtr = make_cudaPitchedPtr(host_out, bytes / 2, bytes / 2, 2);
    copy.extent = make_cudaExtent(bytes / 2, 2, 1);
    copy.kind = cudaMemcpyDeviceToHost;
    right = right && cudaGraphAddMemcpyNode(&back, graph, &kernel, 1, &copy) == cudaSuccess;
    cudaHostNodeParams host = {};
    host.fn = sum_up;
    host.userData = &seen;
    right = right && cudaGraphAddHostNode(&told, graph, &back, 1, &host) == cudaSuccess;

    cudaGraphExec_t executable = nullptr;
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    right = right && cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess;
    right = right && cudaGraphUpload(executable, stream) == cudaSuccess;
    int expected = 16 * 0x1010101;
    for (int i = 0; i < 16; i++) { expected += i + 2 * 5; }
    for (int replay = 1; replay <= 2; replay++) {
        right = right && cudaGraphLaunch(executable, stream) == cudaSuccess;
        right = right && cudaStreamSynchronize(stream) == cudaSuccess;
        right = right && seen.times == replay && seen.sum == expected;
    }
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(a);
    cudaFree(b);
    cudaFree(out);
    cudaFreeHost(host_in);
    cudaFreeHost(host_out);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
