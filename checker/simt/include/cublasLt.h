// SPDX-License-Identifier: MIT
//
// cuBLASLt: D = epilogue(alpha op(A) op(B) + beta C), described by descriptors. Numbers and sizes are the library's, so
// that a program compiles here and there. LIBRARIES.md says which calls are refused, and why.
#pragma once
#pragma GCC system_header

#include <stddef.h>
#include <stdint.h>

#include "cublas_api.h"
#pragma simt refuses cublasLtMatrixTransform transforms of matrices of cuBLASLt
#pragma simt refuses CUBLASLT_MATRIX_TRANSFORM_ transforms of matrices of cuBLASLt
#pragma simt refuses cublasLtMatmulAlgoGetIds choice of cuBLASLt's algorithms by hand
#pragma simt refuses cublasLtMatmulAlgoInit choice of cuBLASLt's algorithms by hand
#pragma simt refuses cublasLtMatmulAlgoCap choice of cuBLASLt's algorithms by hand
#pragma simt refuses cublasLtMatmulAlgoConfig choice of cuBLASLt's algorithms by hand
#pragma simt refuses cublasLtMatmulTile choice of cuBLASLt's algorithms by hand
#pragma simt refuses cublasLtMatmulStages choice of cuBLASLt's algorithms by hand
#pragma simt refuses cublasLtMatmulInnerShape choice of cuBLASLt's algorithms by hand
#pragma simt refuses cublasLtClusterShape choice of cuBLASLt's algorithms by hand
#pragma simt refuses cublasLtPointerModeMask choice of cuBLASLt's algorithms by hand
#pragma simt refuses CUBLASLT_ALGO_ choice of cuBLASLt's algorithms by hand
#pragma simt refuses CUBLASLT_MATMUL_TILE_ choice of cuBLASLt's algorithms by hand
#pragma simt refuses CUBLASLT_MATMUL_STAGES_ choice of cuBLASLt's algorithms by hand
#pragma simt refuses CUBLASLT_MATMUL_INNER_SHAPE_ choice of cuBLASLt's algorithms by hand
#pragma simt refuses CUBLASLT_CLUSTER_SHAPE_ choice of cuBLASLt's algorithms by hand
#pragma simt refuses CUBLASLT_POINTER_MODE_MASK_ choice of cuBLASLt's algorithms by hand
#pragma simt refuses cublasLtMatmulMatrixScale scaled matrices of FP8 and FP4 of cuBLASLt
#pragma simt refuses CUBLASLT_MATMUL_MATRIX_SCALE_ scaled matrices of FP8 and FP4 of cuBLASLt
#pragma simt refuses cublasLtEmulation emulation of wider numbers by cuBLASLt
#pragma simt refuses CUBLASLT_EMULATION_ emulation of wider numbers by cuBLASLt
#pragma simt refuses cublasLtLogger log of cuBLASLt
#pragma simt refuses cublasLtHeuristicsCache such function of cuBLASLt
#pragma simt refuses cublasLtDisableCpuInstructions such function of cuBLASLt

extern "C" {

typedef struct cublasLtContext* cublasLtHandle_t;

// Their content is the library's. Those that the program has itself are set up by cublasLt…Init.
typedef struct {
    uint64_t data[8];
} cublasLtMatrixLayoutOpaque_t;
typedef struct {
    uint64_t data[32];
} cublasLtMatmulDescOpaque_t;
typedef struct {
    uint64_t data[8];
} cublasLtMatmulPreferenceOpaque_t;
typedef struct {
    uint64_t data[8];
} cublasLtMatmulAlgo_t;
typedef cublasLtMatrixLayoutOpaque_t* cublasLtMatrixLayout_t;
typedef cublasLtMatmulDescOpaque_t* cublasLtMatmulDesc_t;
typedef cublasLtMatmulPreferenceOpaque_t* cublasLtMatmulPreference_t;

typedef enum {
    CUBLASLT_POINTER_MODE_HOST = CUBLAS_POINTER_MODE_HOST,
    CUBLASLT_POINTER_MODE_DEVICE = CUBLAS_POINTER_MODE_DEVICE,
    CUBLASLT_POINTER_MODE_DEVICE_VECTOR = 2,  // an alpha and a beta for each row of D
    CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO = 3,
    CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST = 4,
} cublasLtPointerMode_t;

typedef enum {
    CUBLASLT_ORDER_COL = 0,
    CUBLASLT_ORDER_ROW = 1,
    CUBLASLT_ORDER_COL32 = 2,
    CUBLASLT_ORDER_COL4_4R2_8C = 3,
    CUBLASLT_ORDER_COL32_2R_4R4 = 4,
} cublasLtOrder_t;

typedef enum {
    CUBLASLT_BATCH_MODE_STRIDED = 0,
    CUBLASLT_BATCH_MODE_POINTER_ARRAY = 1,
} cublasLtBatchMode_t;

// Each attribute with its type.
typedef enum {
    CUBLASLT_MATRIX_LAYOUT_TYPE = 0,                  // uint32_t, a cudaDataType
    CUBLASLT_MATRIX_LAYOUT_ORDER = 1,                 // int32_t, a cublasLtOrder_t
    CUBLASLT_MATRIX_LAYOUT_ROWS = 2,                  // uint64_t
    CUBLASLT_MATRIX_LAYOUT_COLS = 3,                  // uint64_t
    CUBLASLT_MATRIX_LAYOUT_LD = 4,                    // int64_t, elements from a column to the next, or from a row
    CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,           // int32_t
    CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,  // int64_t, elements
    CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET = 7,          // int64_t, bytes
    CUBLASLT_MATRIX_LAYOUT_BATCH_MODE = 8,            // uint32_t, a cublasLtBatchMode_t
} cublasLtMatrixLayoutAttribute_t;

typedef enum {
    CUBLASLT_MATMUL_DESC_COMPUTE_TYPE = 0,                // int32_t
    CUBLASLT_MATMUL_DESC_SCALE_TYPE = 1,                  // int32_t
    CUBLASLT_MATMUL_DESC_POINTER_MODE = 2,                // int32_t
    CUBLASLT_MATMUL_DESC_TRANSA = 3,                      // int32_t
    CUBLASLT_MATMUL_DESC_TRANSB = 4,                      // int32_t
    CUBLASLT_MATMUL_DESC_TRANSC = 5,                      // int32_t
    CUBLASLT_MATMUL_DESC_FILL_MODE = 6,                   // int32_t
    CUBLASLT_MATMUL_DESC_EPILOGUE = 7,                    // uint32_t
    CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,                // a pointer, as all that are named so
    CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE = 10,          // int64_t, elements
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER = 11,       //
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD = 12,            // int64_t, elements
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE = 13,  // int64_t, elements
    CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE = 14,  // int64_t, elements
    CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET = 15,            // int32_t
    CUBLASLT_MATMUL_DESC_A_SCALE_POINTER = 17,
    CUBLASLT_MATMUL_DESC_B_SCALE_POINTER = 18,
    CUBLASLT_MATMUL_DESC_C_SCALE_POINTER = 19,
    CUBLASLT_MATMUL_DESC_D_SCALE_POINTER = 20,
    CUBLASLT_MATMUL_DESC_AMAX_D_POINTER = 21,
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE = 22,  // int32_t, -1: as D
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER = 23,
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER = 24,
    CUBLASLT_MATMUL_DESC_FAST_ACCUM = 25,               // int8_t
    CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26,           // int32_t, -1: as D
    CUBLASLT_MATMUL_DESC_A_SCALE_MODE = 31,             // int32_t, as all of the modes
    CUBLASLT_MATMUL_DESC_B_SCALE_MODE = 32,             //
    CUBLASLT_MATMUL_DESC_C_SCALE_MODE = 33,             //
    CUBLASLT_MATMUL_DESC_D_SCALE_MODE = 34,             //
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE = 35,  //
    CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER = 36,
    CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE = 37,
    CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR = 38,
} cublasLtMatmulDescAttributes_t;

typedef enum {
    CUBLASLT_EPILOGUE_DEFAULT = 1,
    CUBLASLT_EPILOGUE_RELU = 2,
    CUBLASLT_EPILOGUE_BIAS = 4,
    CUBLASLT_EPILOGUE_RELU_BIAS = 6,
    CUBLASLT_EPILOGUE_GELU = 32,
    CUBLASLT_EPILOGUE_GELU_BIAS = 36,
    CUBLASLT_EPILOGUE_RELU_AUX = 130,
    CUBLASLT_EPILOGUE_RELU_AUX_BIAS = 134,
    CUBLASLT_EPILOGUE_DRELU = 136,
    CUBLASLT_EPILOGUE_DRELU_BGRAD = 152,
    CUBLASLT_EPILOGUE_GELU_AUX = 160,
    CUBLASLT_EPILOGUE_GELU_AUX_BIAS = 164,
    CUBLASLT_EPILOGUE_DGELU = 192,
    CUBLASLT_EPILOGUE_DGELU_BGRAD = 208,
    CUBLASLT_EPILOGUE_BGRADA = 256,
    CUBLASLT_EPILOGUE_BGRADB = 512,
} cublasLtEpilogue_t;

// How the parts of a sum over k are put together that are computed side by side.
typedef enum {
    CUBLASLT_REDUCTION_SCHEME_NONE = 0,
    CUBLASLT_REDUCTION_SCHEME_INPLACE = 1,
    CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2,
    CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE = 4,
    CUBLASLT_REDUCTION_SCHEME_MASK = 7,
} cublasLtReductionScheme_t;

typedef enum {
    CUBLASLT_SEARCH_BEST_FIT = 0,
    CUBLASLT_SEARCH_LIMITED_BY_ALGO_ID = 1,
} cublasLtMatmulSearch_t;

typedef enum {
    CUBLASLT_MATMUL_PREF_SEARCH_MODE = 0,            // uint32_t
    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,    // uint64_t
    CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,  // uint32_t
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,  // uint32_t
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,  // uint32_t
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,  // uint32_t
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8,  // uint32_t
    CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT = 9,        // float
    CUBLASLT_MATMUL_PREF_IMPL_MASK = 12,             // uint64_t
} cublasLtMatmulPreferenceAttributes_t;

typedef uint64_t cublasLtNumericalImplFlags_t;
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA 0x1ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA 0x2ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_IMMA 0x4ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_DMMA 0x8ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK 0xfeull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_OP_TYPE_MASK 0xffull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_16F 0x100ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F 0x200ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F 0x400ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_TYPE_MASK 0xff00ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F 0x10000ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF 0x20000ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32 0x40000ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F 0x80000ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F 0x100000ull
#define CUBLASLT_NUMERICAL_IMPL_FLAGS_OP_INPUT_TYPE_MASK 0xff0000ull

typedef struct {
    cublasLtMatmulAlgo_t algo;
    size_t workspaceSize;  // bytes that the algorithm works in
    cublasStatus_t state;  // the other members say something only where it is CUBLAS_STATUS_SUCCESS
    float wavesCount;
    int reserved[4];
} cublasLtMatmulHeuristicResult_t;

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle);
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle);
const char* cublasLtGetStatusName(cublasStatus_t status);
const char* cublasLtGetStatusString(cublasStatus_t status);
size_t cublasLtGetVersion(void);
size_t cublasLtGetCudartVersion(void);
cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value);

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                          uint64_t cols, int64_t ld);
cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t size, cudaDataType type,
                                                 uint64_t rows, uint64_t cols, int64_t ld);
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout);
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                size_t bytes);
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, void* value, size_t bytes,
                                                size_t* written);

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale);
cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t desc, size_t size, cublasComputeType_t compute,
                                               cudaDataType_t scale);
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc);
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes);
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                                              void* value, size_t bytes, size_t* written);

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference);
cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference, size_t size);
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference);
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    size_t bytes);
cublasStatus_t cublasLtMatmulPreferenceGetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, void* value,
                                                    size_t bytes, size_t* written);

// One algorithm at most.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t results[], int* returned);
// Whether the algorithm is one for this matmul, and the workspace that it needs.
cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                       cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algo, cublasLtMatmulHeuristicResult_t* result);
// Without an algorithm it takes one that needs no workspace.
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo, void* workspace,
                              size_t workspace_bytes, cudaStream_t stream);

static inline cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType type, uint64_t rows,
                                                      uint64_t cols, int64_t ld) {
    return cublasLtMatrixLayoutInit_internal(layout, sizeof *layout, type, rows, cols, ld);
}
static inline cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t desc, cublasComputeType_t compute,
                                                    cudaDataType_t scale) {
    return cublasLtMatmulDescInit_internal(desc, sizeof *desc, compute, scale);
}
static inline cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t preference) {
    return cublasLtMatmulPreferenceInit_internal(preference, sizeof *preference);
}

}  // extern "C"
