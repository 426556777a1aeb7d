// SPDX-License-Identifier: MIT
// verdict: correct
// Attention's two products without permuting: heads lie side by side in each row of (T, 3C), and in each row of the output.
// An event orders them with the kernel's stream.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <vector>

constexpr int T = 5, NH = 3, hs = 4, C = NH * hs;

__global__ void fill(float* x, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) {
        x[i] = static_cast<float>(i % 5 - 2);
    }
}

int main() {
    float *qkv = nullptr, *scores = nullptr, *out = nullptr;
    cudaMalloc(&qkv, T * 3 * C * sizeof(float));
    cudaMalloc(&scores, NH * T * T * sizeof(float));
    cudaMalloc(&out, T * C * sizeof(float));
    cudaStream_t filling, products;
    cudaStreamCreateWithFlags(&filling, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&products, cudaStreamNonBlocking);
    cudaEvent_t filled;
    cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
    cublasHandle_t cublas;
    cublasCreate(&cublas);
    cublasSetStream(cublas, products);
    fill<<<1, T * 3 * C, 0, filling>>>(qkv, T * 3 * C);
    cudaEventRecord(filled, filling);
    cudaStreamWaitEvent(products, filled, 0);
    const float one = 1.0F, zero = 0.0F;
    cublasSgemmStridedBatched(cublas, CUBLAS_OP_T, CUBLAS_OP_N, T, T, hs, &one, qkv + C, 3 * C, hs, qkv, 3 * C, hs,
                              &zero, scores, T, T * T, NH);
    cublasSgemmStridedBatched(cublas, CUBLAS_OP_N, CUBLAS_OP_N, hs, T, T, &one, qkv + 2 * C, 3 * C, hs, scores, T,
                              T * T, &zero, out, C, hs, NH);
    std::vector<float> got(T * C);
    cudaMemcpyAsync(got.data(), out, T * C * sizeof(float), cudaMemcpyDeviceToHost, products);
    bool right = cudaStreamSynchronize(products) == cudaSuccess;
    const auto at = [](int t, int part, int h, int i) {
        return static_cast<float>((t * 3 * C + part * C + h * hs + i) % 5 - 2);
    };
    for (int t = 0; t < T; t++) {
        for (int h = 0; h < NH; h++) {
            for (int i = 0; i < hs; i++) {
                float sum = 0;
                for (int s = 0; s < T; s++) {
                    float score = 0;
                    for (int j = 0; j < hs; j++) { score += at(t, 0, h, j) * at(s, 1, h, j); }
                    sum += score * at(s, 2, h, i);
                }
                right = right && got[static_cast<std::size_t>(t * C + h * hs + i)] == sum;
            }
        }
    }
    cublasDestroy(cublas);
    cudaEventDestroy(filled);
    cudaStreamDestroy(filling);
    cudaStreamDestroy(products);
    cudaFree(qkv);
    cudaFree(scores);
    cudaFree(out);
    return right ? 0 : 1;
}
