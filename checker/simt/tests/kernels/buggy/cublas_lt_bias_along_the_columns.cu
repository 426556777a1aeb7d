// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global cublas_lt_bias_along_the_columns.cu:31
// The bias has a value for each column of D; cuBLASLt adds it along the rows.
#include <cublasLt.h>
#include <cuda_runtime.h>

#include <cstdint>

int main() {
    constexpr int m = 16, n = 8, k = 12;
    float *a = nullptr, *b = nullptr, *d = nullptr, *bias = nullptr;
    cudaMalloc(&a, m * k * sizeof(float));
    cudaMalloc(&b, k * n * sizeof(float));
    cudaMalloc(&d, m * n * sizeof(float));
    cudaMalloc(&bias, n * sizeof(float));
    cudaMemset(a, 0, m * k * sizeof(float));
    cudaMemset(b, 0, k * n * sizeof(float));
    cublasLtHandle_t lt = nullptr;
    cublasLtCreate(&lt);
    cublasLtMatmulDesc_t desc = nullptr;
    cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatrixLayout_t layout_a = nullptr, layout_b = nullptr, layout_d = nullptr;
    cublasLtMatrixLayoutCreate(&layout_a, CUDA_R_32F, m, k, m);
    cublasLtMatrixLayoutCreate(&layout_b, CUDA_R_32F, k, n, k);
    cublasLtMatrixLayoutCreate(&layout_d, CUDA_R_32F, m, n, m);
    const float one = 1.0F, zero = 0.0F;
    cudaMemset(bias, 0, n * sizeof(float));
    const std::uint32_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    cublasLtMatmul(lt, desc, &one, a, layout_a, b, layout_b, &zero, d, layout_d, d, layout_d, nullptr, nullptr, 0,
                   nullptr);
    cudaDeviceSynchronize();
    cublasLtMatrixLayoutDestroy(layout_a);
    cublasLtMatrixLayoutDestroy(layout_b);
    cublasLtMatrixLayoutDestroy(layout_d);
    cublasLtMatmulDescDestroy(desc);
    cublasLtDestroy(lt);
    for (float* x : {a, b, d, bias}) { cudaFree(x); }
}
