// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global cublas_operands_not_swapped.cu:19
// Row-major matrices as they are, and not swapped: C's ld is that of its transpose, so that C ends too late.
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
    // out (m, n) = a (m, k) b (k, n), by rows
    cublasSgemm(cublas, CUBLAS_OP_T, CUBLAS_OP_T, m, n, k, &one, a, k, b, n, &zero, c, m + n);
    cudaDeviceSynchronize();
    cublasDestroy(cublas);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}
