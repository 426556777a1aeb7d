// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global cublas_with_a_wrong_ld.cu:18
// A is stored with k rows, and is said to have ld m + k.
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
    cublasSgemm(cublas, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, a, m + k, b, k, &zero, c, m);
    cudaDeviceSynchronize();
    cublasDestroy(cublas);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}
