// SPDX-License-Identifier: MIT
// verdict: race global cublas_batch_of_overlapping_outputs.cu:20 cublas_batch_of_overlapping_outputs.cu:20
// The stride between the products is too small by a row.
#include <cublas_v2.h>
#include <cuda_runtime.h>

int main() {
    constexpr int m = 6, n = 5, k = 8;
    float *a = nullptr, *b = nullptr, *c = nullptr;
    cudaMalloc(&a, m * k * sizeof(float));
    cudaMalloc(&b, k * n * sizeof(float));
    cudaMalloc(&c, m * n * sizeof(float));
    cudaMemset(a, 0, m * k * sizeof(float));
    cudaMemset(b, 0, k * n * sizeof(float));
    cublasHandle_t cublas;
    cublasCreate(&cublas);
    const float one = 1.0F, zero = 0.0F;
    // two products of 3 x 4 and 4 x 5
    const int stride = 3 * 4;
    cublasSgemmStridedBatched(cublas, CUBLAS_OP_N, CUBLAS_OP_N, 3, 5, 4, &one, a, 3, 12, b, 4, 20, &zero, c, 3, stride,
                              2);
    cudaDeviceSynchronize();
    cublasDestroy(cublas);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}
