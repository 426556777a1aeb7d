// SPDX-License-Identifier: MIT
// verdict: correct
// A copy in, two kernels and a copy out are captured once and replayed three times, each time on what pinned memory then
// holds. While it is captured nothing runs.
#include <cuda_runtime.h>

#include <cstdlib>

constexpr int kCount = 64;

__global__ void scale(float* out, const float* inp, float factor) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = factor * inp[i];
}

__global__ void add_one(float* x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] += 1.0F;
}

int main() {
    constexpr std::size_t bytes = kCount * sizeof(float);
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    float *inp = nullptr, *out = nullptr, *host_inp = nullptr, *host_out = nullptr;
    cudaMalloc(&inp, bytes);
    cudaMalloc(&out, bytes);
    cudaMallocHost(&host_inp, bytes);
    cudaMallocHost(&host_out, bytes);
    for (int i = 0; i < kCount; i++) { host_inp[i] = host_out[i] = -1.0F; }

    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    bool right = cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess;
    cudaMemcpyAsync(inp, host_inp, bytes, cudaMemcpyHostToDevice, stream);
    scale<<<2, kCount / 2, 0, stream>>>(out, inp, 2.0F);
    add_one<<<2, kCount / 2, 0, stream>>>(out);
    cudaMemcpyAsync(host_out, out, bytes, cudaMemcpyDeviceToHost, stream);
    right = right && cudaStreamEndCapture(stream, &graph) == cudaSuccess;
    right = right && cudaStreamSynchronize(stream) == cudaSuccess && host_out[0] == -1.0F;
    right = right && cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess;
    right = right && cudaGraphDestroy(graph) == cudaSuccess;  // the executable lives on

    for (int replay = 0; replay < 3; replay++) {
        for (int i = 0; i < kCount; i++) { host_inp[i] = static_cast<float>(10 * replay + i); }
        right = right && cudaGraphLaunch(executable, stream) == cudaSuccess;
        right = right && cudaStreamSynchronize(stream) == cudaSuccess;
        for (int i = 0; i < kCount; i++) {
            right = right && host_out[i] == 2.0F * static_cast<float>(10 * replay + i) + 1.0F;
        }
    }
    cudaGraphExecDestroy(executable);
    cudaStreamDestroy(stream);
    cudaFree(inp);
    cudaFree(out);
    cudaFreeHost(host_inp);
    cudaFreeHost(host_out);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
