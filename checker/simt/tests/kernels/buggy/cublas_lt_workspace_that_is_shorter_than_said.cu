// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global cublas_lt_workspace_that_is_shorter_than_said.cu:30
// The workspace was allocated in floats, and its size is said in bytes.
#include <cublasLt.h>
#include <cuda_runtime.h>

#include <cstdint>

int main() {
    constexpr int n = 64;
    constexpr std::uint64_t limit = 256;
    float *a = nullptr, *d = nullptr, *workspace = nullptr;
    cudaMalloc(&a, n * n * sizeof(float));
    cudaMalloc(&d, n * n * sizeof(float));
    cudaMalloc(&workspace, limit / sizeof(float));
    cudaMemset(a, 0, n * n * sizeof(float));
    cublasLtHandle_t lt = nullptr;
    cublasLtCreate(&lt);
    cublasLtMatmulDescOpaque_t desc;
    cublasLtMatmulDescInit(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatrixLayoutOpaque_t x;
    cublasLtMatrixLayoutInit(&x, CUDA_R_32F, n, n, n);
    cublasLtMatmulPreferenceOpaque_t preference;
    cublasLtMatmulPreferenceInit(&preference);
    cublasLtMatmulPreferenceSetAttribute(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof limit);
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    cublasLtMatmulAlgoGetHeuristic(lt, &desc, &x, &x, &x, &x, &preference, 1, &found, &count);
    const float one = 1.0F, zero = 0.0F;
    cublasLtMatmul(lt, &desc, &one, a, &x, a, &x, &zero, d, &x, d, &x, &found.algo, workspace, limit, nullptr);
    cudaDeviceSynchronize();
    cublasLtDestroy(lt);
    for (float* matrix : {a, d, workspace}) { cudaFree(matrix); }
}
