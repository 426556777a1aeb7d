// SPDX-License-Identifier: MIT
#include <cublasLt.h>

#include <cstdint>

#include "checker/simt/tests/objects/linear.h"

int linear_gelu(float* out, float* pre_gelu, const float* inp, const float* weight, const float* bias, int n, int c,
                int oc, int alignment) {
    cublasLtMatmulDescOpaque_t desc;
    cublasLtMatmulDescInit(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
        cublasLtMatmulDescSetAttribute(&desc, attribute, &value, sizeof value);
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE,
        pre_gelu != nullptr ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_BIAS);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, pre_gelu);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{oc});
    cublasLtMatrixLayoutOpaque_t of_weight, of_inp, of_out;
    cublasLtMatrixLayoutInit(&of_weight, CUDA_R_32F, c, oc, c);
    cublasLtMatrixLayoutInit(&of_inp, CUDA_R_32F, c, n, c);
    cublasLtMatrixLayoutInit(&of_out, CUDA_R_32F, oc, n, oc);
    cublasLtHandle_t lt = nullptr;
    cublasLtCreate(&lt);
    const float one = 1, zero = 0;
    cublasLtMatmulHeuristicResult_t found = {};
    int count = 0;
    if (alignment != 0) {
        cublasLtMatmulPreferenceOpaque_t preference;
        cublasLtMatmulPreferenceInit(&preference);
        for (const auto of : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
            cublasLtMatmulPreferenceSetAttribute(&preference, of, &alignment, sizeof alignment);
        }
        cublasLtMatmulAlgoGetHeuristic(lt, &desc, &of_weight, &of_inp, &of_out, &of_out, &preference, 1, &found,
                                       &count);
    }
    const cublasStatus_t status = cublasLtMatmul(lt, &desc, &one, weight, &of_weight, inp, &of_inp, &zero, out, &of_out,
                                                 out, &of_out, count > 0 ? &found.algo : nullptr, nullptr, 0, nullptr);
    return cublasLtDestroy(lt) == CUBLAS_STATUS_SUCCESS ? static_cast<int>(status) : 1;
}
