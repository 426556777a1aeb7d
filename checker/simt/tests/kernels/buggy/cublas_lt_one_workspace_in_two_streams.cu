// SPDX-License-Identifier: MIT
// verdict: race streams cublas_lt_one_workspace_in_two_streams.cu:33 cublas_lt_one_workspace_in_two_streams.cu:35
// Two streams share a workspace: what one of the matmuls counts there, the other one overwrites.
#include <cublasLt.h>
#include <cuda_runtime.h>

#include <cstdint>

int main() {
    constexpr int n = 64;
    constexpr std::uint64_t limit = 1 << 16;
    float *a = nullptr, *first = nullptr, *second = nullptr;
    void* workspace = nullptr;
    for (float** x : {&a, &first, &second}) { cudaMalloc(x, n * n * sizeof(float)); }
    cudaMalloc(&workspace, limit);
    cudaMemset(a, 0, n * n * sizeof(float));
    cudaDeviceSynchronize();
    cudaStream_t streams[2];
    for (cudaStream_t& stream : streams) { cudaStreamCreate(&stream); }
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
    cublasLtMatmul(lt, &desc, &one, a, &x, a, &x, &zero, first, &x, first, &x, &found.algo, workspace, limit,
                   streams[0]);
    cublasLtMatmul(lt, &desc, &one, a, &x, a, &x, &zero, second, &x, second, &x, &found.algo, workspace, limit,
                   streams[1]);
    cudaDeviceSynchronize();
    cublasLtDestroy(lt);
    for (cudaStream_t stream : streams) { cudaStreamDestroy(stream); }
    for (float* matrix : {a, first, second}) { cudaFree(matrix); }
    cudaFree(workspace);
}
