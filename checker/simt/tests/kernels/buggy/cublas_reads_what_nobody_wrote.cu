// SPDX-License-Identifier: MIT
// verdict: uninitialised global cublas_reads_what_nobody_wrote.cu:26
// The last row of A was forgotten.
#include <cublas_v2.h>
#include <cuda_runtime.h>

__global__ void set(float* x, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) {
        x[i] = 1.0F;
    }
}

int main() {
    constexpr int n = 8;
    float *a = nullptr, *b = nullptr, *c = nullptr;
    cudaMalloc(&a, n * n * sizeof(float));
    cudaMalloc(&b, n * n * sizeof(float));
    cudaMalloc(&c, n * n * sizeof(float));
    cublasHandle_t cublas;
    cublasCreate(&cublas);
    set<<<1, n * n>>>(a, n * (n - 1));
    set<<<1, n * n>>>(b, n * n);
    const float alpha = 1.0F, beta = 0.0F;
    const cublasStatus_t status =
        cublasSgemm(cublas, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &alpha, a, n, b, n, &beta, c, n);
    cublasDestroy(cublas);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    return status == CUBLAS_STATUS_SUCCESS ? 0 : 1;
}
