// SPDX-License-Identifier: MIT
// verdict: correct
// A product of cuBLAS between two kernels is captured with them and replayed on other inputs, and captured again. The first
// call is not captured: it is what a library warms up with.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <vector>

__global__ void copy(float* out, const float* inp, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        out[i] = inp[i];
    }
}

__global__ void add_one(float* x, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        x[i] += 1.0F;
    }
}

int main() {
    constexpr int n = 8;
    constexpr std::size_t bytes = n * n * sizeof(float);
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cublasHandle_t cublas = nullptr;
    bool right = cublasCreate(&cublas) == CUBLAS_STATUS_SUCCESS;
    right = right && cublasSetStream(cublas, stream) == CUBLAS_STATUS_SUCCESS;
    float *inp = nullptr, *a = nullptr, *b = nullptr, *c = nullptr;
    for (float** buffer : {&inp, &a, &b, &c}) { cudaMalloc(buffer, bytes); }
    std::vector<float> values(n * n), out(n * n);
    for (int i = 0; i < n * n; i++) { values[static_cast<std::size_t>(i)] = static_cast<float>(i % 5 - 2); }
    cudaMemcpy(inp, values.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(b, values.data(), bytes, cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();  // the stream does not wait for the copies

    const auto forward = [&] {
        const float alpha = 1.0F, beta = 0.0F;
        copy<<<1, 64, 0, stream>>>(a, inp, n * n);
        right = right && cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &alpha, a, n, b, n, &beta, c, n) ==
                             CUBLAS_STATUS_SUCCESS;
        add_one<<<1, 64, 0, stream>>>(c, n * n);
    };
    forward();
    right = right && cudaStreamSynchronize(stream) == cudaSuccess;
    cudaGraph_t graph = nullptr;
    right = right && cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess;
    forward();
    right = right && cudaStreamEndCapture(stream, &graph) == cudaSuccess;
    cudaGraphExec_t executable = nullptr;
    right = right && cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess;

    for (int replay = 0; replay < 2; replay++) {
        for (float& value : values) { value += 1.0F; }
        cudaMemcpyAsync(inp, values.data(), bytes, cudaMemcpyHostToDevice, stream);
        right = right && cudaGraphLaunch(executable, stream) == cudaSuccess;
        cudaMemcpyAsync(out.data(), c, bytes, cudaMemcpyDeviceToHost, stream);
        right = right && cudaStreamSynchronize(stream) == cudaSuccess;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                float sum = 1.0F;
                for (int k = 0; k < n; k++) {
                    sum += values[static_cast<std::size_t>(k * n + i)] * static_cast<float>((j * n + k) % 5 - 2);
                }
                right = right && out[static_cast<std::size_t>(j * n + i)] == sum;
            }
        }
    }
    // A second capture, of the same calls, gives an executable that can be updated from it.
    cudaGraph_t again = nullptr;
    cudaGraphExecUpdateResultInfo info = {};
    right = right && cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess;
    forward();
    right = right && cudaStreamEndCapture(stream, &again) == cudaSuccess;
    right = right && cudaGraphExecUpdate(executable, again, &info) == cudaSuccess;
    cudaGraphDestroy(again);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cublasDestroy(cublas);
    cudaStreamDestroy(stream);
    for (float* buffer : {inp, a, b, c}) { cudaFree(buffer); }
    return right ? 0 : 1;
}
