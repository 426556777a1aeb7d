// SPDX-License-Identifier: MIT
// verdict: correct
// A linear layer with its GELU in one matmul of cuBLASLt, between two kernels in one stream: row-major to the program,
// out = gelu(inp weight^T + bias), and what goes into GELU kept for later. Its descriptors go before it has run.
#include <cublasLt.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <vector>

__global__ void fill(float* x, int count, float step) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        x[i] = step * static_cast<float>(i % 7 - 3);
    }
}

__global__ void add(float* x, const float* y, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        x[i] += y[i];
    }
}

int main() {
    constexpr int N = 21, C = 72, OC = 24;
    float *inp = nullptr, *weight = nullptr, *bias = nullptr, *pre_gelu = nullptr, *out = nullptr;
    void* workspace = nullptr;
    constexpr std::uint64_t limit = 4 << 20;
    cudaMalloc(&inp, N * C * sizeof(float));
    cudaMalloc(&weight, OC * C * sizeof(float));
    cudaMalloc(&bias, OC * sizeof(float));
    cudaMalloc(&pre_gelu, N * OC * sizeof(float));
    cudaMalloc(&out, N * OC * sizeof(float));
    cudaMalloc(&workspace, limit);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cublasLtHandle_t lt = nullptr;
    bool right = cublasLtCreate(&lt) == CUBLAS_STATUS_SUCCESS;
    fill<<<(N * C + 127) / 128, 128, 0, stream>>>(inp, N * C, 0.25F);
    fill<<<(OC * C + 127) / 128, 128, 0, stream>>>(weight, OC * C, 0.125F);
    fill<<<1, 128, 0, stream>>>(bias, OC, 0.5F);

    cublasLtMatmulDesc_t desc = nullptr;
    cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    const auto set = [&](cublasLtMatmulDescAttributes_t attribute, auto value) {
        right = right && cublasLtMatmulDescSetAttribute(desc, attribute, &value, sizeof value) == CUBLAS_STATUS_SUCCESS;
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, pre_gelu);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{OC});
    cublasLtMatrixLayout_t of_weight = nullptr, of_inp = nullptr, of_out = nullptr;
    cublasLtMatrixLayoutCreate(&of_weight, CUDA_R_32F, C, OC, C);
    cublasLtMatrixLayoutCreate(&of_inp, CUDA_R_32F, C, N, C);
    cublasLtMatrixLayoutCreate(&of_out, CUDA_R_32F, OC, N, OC);
    cublasLtMatmulPreference_t preference = nullptr;
    cublasLtMatmulPreferenceCreate(&preference);
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof limit);
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    right = right &&
            cublasLtMatmulAlgoGetHeuristic(lt, desc, of_weight, of_inp, of_out, of_out, preference, 1, &found,
                                           &count) == CUBLAS_STATUS_SUCCESS &&
            count == 1;
    const float one = 1.0F, zero = 0.0F;  // beta 0: nobody has written out
    right = right && cublasLtMatmul(lt, desc, &one, weight, of_weight, inp, of_inp, &zero, out, of_out, out, of_out,
                                    &found.algo, workspace, limit, stream) == CUBLAS_STATUS_SUCCESS;
    for (const cublasLtMatrixLayout_t layout : {of_weight, of_inp, of_out}) { cublasLtMatrixLayoutDestroy(layout); }
    cublasLtMatmulPreferenceDestroy(preference);
    cublasLtMatmulDescDestroy(desc);
    add<<<(N * OC + 127) / 128, 128, 0, stream>>>(out, pre_gelu, N * OC);

    std::vector<float> got(N * OC);
    cudaMemcpyAsync(got.data(), out, got.size() * sizeof(float), cudaMemcpyDeviceToHost, stream);
    right = right && cudaStreamSynchronize(stream) == cudaSuccess;
    const auto value = [](int i, double step) { return step * (i % 7 - 3); };
    for (int n = 0; n < N; n++) {
        for (int o = 0; o < OC; o++) {
            double x = value(o, 0.5);
            for (int c = 0; c < C; c++) { x += value(n * C + c, 0.25) * value(o * C + c, 0.125); }
            const double gelu = 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
            right = right && std::fabs(got[static_cast<std::size_t>(n * OC + o)] - (gelu + x)) <= 1e-4;
        }
    }
    cublasLtDestroy(lt);
    cudaStreamDestroy(stream);
    for (float* x : {inp, weight, bias, pre_gelu, out}) { cudaFree(x); }
    cudaFree(workspace);
    return right ? 0 : 1;
}
