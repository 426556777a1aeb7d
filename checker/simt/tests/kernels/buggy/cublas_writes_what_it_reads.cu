// SPDX-License-Identifier: MIT
// verdict: race global cublas_writes_what_it_reads.cu:18 cublas_writes_what_it_reads.cu:18
// C is a part of A.
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
    cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a, m, b, k, &zero, a, m);
    cudaDeviceSynchronize();
    cublasDestroy(cublas);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}
