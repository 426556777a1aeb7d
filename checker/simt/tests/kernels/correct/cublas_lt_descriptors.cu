// SPDX-License-Identifier: MIT
// verdict: correct
// What cuBLASLt's descriptors take, hold and refuse. It needs no GPU: compiled with nvcc and linked with the library, it
// says the same of the real one, anywhere.
#include <cublasLt.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

// The numbers of the library's header, and of its stand-in.
static_assert(
    CUBLASLT_EPILOGUE_BGRADA == 256 && CUBLASLT_EPILOGUE_BGRADB == 512 && CUBLASLT_EPILOGUE_BIAS == 4 &&
    CUBLASLT_EPILOGUE_DEFAULT == 1 && CUBLASLT_EPILOGUE_DGELU == 192 && CUBLASLT_EPILOGUE_DGELU_BGRAD == 208 &&
    CUBLASLT_EPILOGUE_DRELU == 136 && CUBLASLT_EPILOGUE_DRELU_BGRAD == 152 && CUBLASLT_EPILOGUE_GELU == 32 &&
    CUBLASLT_EPILOGUE_GELU_AUX == 160 && CUBLASLT_EPILOGUE_GELU_AUX_BIAS == 164 && CUBLASLT_EPILOGUE_GELU_BIAS == 36 &&
    CUBLASLT_EPILOGUE_RELU == 2 && CUBLASLT_EPILOGUE_RELU_AUX == 130 && CUBLASLT_EPILOGUE_RELU_AUX_BIAS == 134 &&
    CUBLASLT_EPILOGUE_RELU_BIAS == 6 && CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE == 14 &&
    CUBLASLT_MATMUL_DESC_AMAX_D_POINTER == 21 && CUBLASLT_MATMUL_DESC_A_SCALE_POINTER == 17 &&
    CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE == 10 && CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE == 26 &&
    CUBLASLT_MATMUL_DESC_BIAS_POINTER == 8 && CUBLASLT_MATMUL_DESC_B_SCALE_POINTER == 18 &&
    CUBLASLT_MATMUL_DESC_COMPUTE_TYPE == 0 && CUBLASLT_MATMUL_DESC_C_SCALE_POINTER == 19 &&
    CUBLASLT_MATMUL_DESC_D_SCALE_POINTER == 20 && CUBLASLT_MATMUL_DESC_EPILOGUE == 7 &&
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER == 24 && CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE == 13 &&
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE == 22 && CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD == 12 &&
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER == 11 && CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER == 23 &&
    CUBLASLT_MATMUL_DESC_FAST_ACCUM == 25 && CUBLASLT_MATMUL_DESC_FILL_MODE == 6 &&
    CUBLASLT_MATMUL_DESC_POINTER_MODE == 2 && CUBLASLT_MATMUL_DESC_SCALE_TYPE == 1 &&
    CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET == 15 && CUBLASLT_MATMUL_DESC_TRANSA == 3 &&
    CUBLASLT_MATMUL_DESC_TRANSB == 4 && CUBLASLT_MATMUL_DESC_TRANSC == 5 && CUBLASLT_MATMUL_PREF_IMPL_MASK == 12 &&
    CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT == 9 && CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES == 1 &&
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES == 5 && CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES == 6 &&
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES == 7 && CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES == 8 &&
    CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK == 3 && CUBLASLT_MATMUL_PREF_SEARCH_MODE == 0 &&
    CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT == 5 && CUBLASLT_MATRIX_LAYOUT_COLS == 3 && CUBLASLT_MATRIX_LAYOUT_LD == 4 &&
    CUBLASLT_MATRIX_LAYOUT_ORDER == 1 && CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET == 7 && CUBLASLT_MATRIX_LAYOUT_ROWS == 2 &&
    CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET == 6 && CUBLASLT_MATRIX_LAYOUT_TYPE == 0 &&
    CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_16F == 256 && CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F == 512 &&
    CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F == 1024 &&
    CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_TYPE_MASK == 65280 && CUBLASLT_NUMERICAL_IMPL_FLAGS_DMMA == 8 &&
    CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA == 1 && CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA == 2 &&
    CUBLASLT_NUMERICAL_IMPL_FLAGS_IMMA == 4 && CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF == 131072 &&
    CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F == 65536 && CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F == 524288 &&
    CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F == 1048576 && CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32 == 262144 &&
    CUBLASLT_NUMERICAL_IMPL_FLAGS_OP_INPUT_TYPE_MASK == 16711680 && CUBLASLT_NUMERICAL_IMPL_FLAGS_OP_TYPE_MASK == 255 &&
    CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK == 254 && CUBLASLT_ORDER_COL == 0 && CUBLASLT_ORDER_COL32 == 2 &&
    CUBLASLT_ORDER_COL32_2R_4R4 == 4 && CUBLASLT_ORDER_COL4_4R2_8C == 3 && CUBLASLT_ORDER_ROW == 1 &&
    CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST == 4 &&
    CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO == 3 && CUBLASLT_POINTER_MODE_DEVICE == 1 &&
    CUBLASLT_POINTER_MODE_DEVICE_VECTOR == 2 && CUBLASLT_POINTER_MODE_HOST == 0 &&
    CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE == 2 && CUBLASLT_REDUCTION_SCHEME_INPLACE == 1 &&
    CUBLASLT_REDUCTION_SCHEME_MASK == 7 && CUBLASLT_REDUCTION_SCHEME_NONE == 0 &&
    CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE == 4 && CUBLASLT_SEARCH_BEST_FIT == 0 &&
    CUBLASLT_SEARCH_LIMITED_BY_ALGO_ID == 1);
#if CUBLAS_VERSION >= 130100  // of which the stand-in is; older ones lack some
#define OF_13_1
static_assert(
    CUBLASLT_BATCH_MODE_POINTER_ARRAY == 1 && CUBLASLT_BATCH_MODE_STRIDED == 0 &&
    CUBLASLT_MATMUL_DESC_A_SCALE_MODE == 31 && CUBLASLT_MATMUL_DESC_B_SCALE_MODE == 32 &&
    CUBLASLT_MATMUL_DESC_C_SCALE_MODE == 33 && CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE == 37 &&
    CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER == 36 && CUBLASLT_MATMUL_DESC_D_SCALE_MODE == 34 &&
    CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR == 38 && CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE == 35 &&
    CUBLASLT_MATRIX_LAYOUT_BATCH_MODE == 8);
#endif

int wrong = 0;

void expect(bool right, const char* what, int got, int wanted) {
    if (!right) {
        std::printf("%s: %d, and not %d\n", what, got, wanted);
        wrong++;
    }
}

void expect_status(const char* what, cublasStatus_t got, cublasStatus_t wanted) {
    expect(got == wanted, what, got, wanted);
}

// An attribute: its size, and what it is in a fresh descriptor.
struct Attribute {
    int number;
    std::size_t bytes;
    std::int64_t fresh;
};

// Everything that a function of attributes does, with one kind of descriptor.
template <class Set, class Get>
void try_attributes(const char* kind, const Attribute* attributes, std::size_t count, Set set, Get get) {
    for (std::size_t i = 0; i < count; i++) {
        const Attribute& a = attributes[i];
        char what[64];
        std::snprintf(what, sizeof what, "attribute %d of %s", a.number, kind);
        unsigned char value[16] = {}, back[16] = {};
        std::size_t written = 77;
        expect_status(what, get(a.number, nullptr, 0, &written), CUBLAS_STATUS_SUCCESS);
        expect(written == a.bytes, what, static_cast<int>(written), static_cast<int>(a.bytes));
        expect_status(what, get(a.number, value, a.bytes, nullptr), CUBLAS_STATUS_SUCCESS);
        expect(std::memcmp(value, &a.fresh, a.bytes) == 0, what, value[0], static_cast<int>(a.fresh));
        for (const std::size_t bytes : {a.bytes - 1, a.bytes + 1, 2 * a.bytes}) {
            expect_status(what, set(a.number, value, bytes), CUBLAS_STATUS_INVALID_VALUE);
            if (bytes > 0) {  // 0 asks for the size
                written = 77;
                expect_status(what, get(a.number, back, bytes, &written), CUBLAS_STATUS_INVALID_VALUE);
                expect(written == 77, what, static_cast<int>(written), 77);
            }
        }
        expect_status(what, set(a.number, nullptr, a.bytes), CUBLAS_STATUS_INVALID_VALUE);
        expect_status(what, get(a.number, nullptr, a.bytes, &written), CUBLAS_STATUS_INVALID_VALUE);
        expect_status(what, get(a.number, back, 0, nullptr), CUBLAS_STATUS_INVALID_VALUE);
        // Whatever it is set to is what it gives back: what it means is judged where it is used.
        value[0] = 1;
        value[1] = 0;
        expect_status(what, set(a.number, value, a.bytes), CUBLAS_STATUS_SUCCESS);
        expect_status(what, get(a.number, back, a.bytes, &written), CUBLAS_STATUS_SUCCESS);
        expect(std::memcmp(back, value, a.bytes) == 0, what, back[0], 1);
        expect(written == a.bytes, what, static_cast<int>(written), static_cast<int>(a.bytes));
    }
    std::int32_t value = 0;
    std::size_t written = 0;
    for (const int number : {-1, 9999}) {  // what no version of the library has
        expect_status(kind, set(number, &value, sizeof value), CUBLAS_STATUS_INVALID_VALUE);
        expect_status(kind, get(number, &value, sizeof value, &written), CUBLAS_STATUS_INVALID_VALUE);
        expect_status(kind, get(number, nullptr, 0, &written), CUBLAS_STATUS_INVALID_VALUE);
    }
}

void try_layout() {
    constexpr Attribute kAttributes[] = {{CUBLASLT_MATRIX_LAYOUT_TYPE, 4, CUDA_R_16BF},
                                         {CUBLASLT_MATRIX_LAYOUT_ORDER, 4, CUBLASLT_ORDER_COL},
                                         {CUBLASLT_MATRIX_LAYOUT_ROWS, 8, 5},
                                         {CUBLASLT_MATRIX_LAYOUT_COLS, 8, 7},
                                         {CUBLASLT_MATRIX_LAYOUT_LD, 8, 6},
                                         {CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 4, 1},
                                         {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 8, 0},
                                         {CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, 8, 0},
#ifdef OF_13_1
                                         {CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, 4, CUBLASLT_BATCH_MODE_STRIDED},
#endif
    };
    cublasLtMatrixLayout_t made = nullptr;
    expect_status("a layout", cublasLtMatrixLayoutCreate(&made, CUDA_R_16BF, 5, 7, 6), CUBLAS_STATUS_SUCCESS);
    cublasLtMatrixLayoutOpaque_t own;
    expect_status("a layout in place", cublasLtMatrixLayoutInit(&own, CUDA_R_16BF, 5, 7, 6), CUBLAS_STATUS_SUCCESS);
    for (const cublasLtMatrixLayout_t layout : {made, &own}) {
        try_attributes(
            "a layout", kAttributes, sizeof kAttributes / sizeof *kAttributes,
            [&](int attribute, const void* value, std::size_t bytes) {
                return cublasLtMatrixLayoutSetAttribute(layout, static_cast<cublasLtMatrixLayoutAttribute_t>(attribute),
                                                        value, bytes);
            },
            [&](int attribute, void* value, std::size_t bytes, std::size_t* written) {
                return cublasLtMatrixLayoutGetAttribute(layout, static_cast<cublasLtMatrixLayoutAttribute_t>(attribute),
                                                        value, bytes, written);
            });
    }
    const std::int32_t order = CUBLASLT_ORDER_ROW;
    expect_status("no layout",
                  cublasLtMatrixLayoutSetAttribute(nullptr, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order),
                  CUBLAS_STATUS_INVALID_VALUE);
    expect_status("a layout's address", cublasLtMatrixLayoutCreate(nullptr, CUDA_R_32F, 5, 7, 6),
                  CUBLAS_STATUS_INVALID_VALUE);
    expect_status("a small place", cublasLtMatrixLayoutInit_internal(&own, 8, CUDA_R_32F, 5, 7, 6),
                  CUBLAS_STATUS_ALLOC_FAILED);
    expect_status("destroying a layout", cublasLtMatrixLayoutDestroy(made), CUBLAS_STATUS_SUCCESS);
    expect_status("destroying none", cublasLtMatrixLayoutDestroy(nullptr), CUBLAS_STATUS_SUCCESS);
    // Sizes are not judged before they are used.
    expect_status("an ld that is too small", cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, 5, 7, 4),
                  CUBLAS_STATUS_SUCCESS);
    expect_status("destroying it", cublasLtMatrixLayoutDestroy(made), CUBLAS_STATUS_SUCCESS);
}

void try_desc() {
    constexpr Attribute kAttributes[] = {
        {CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, 4, CUBLAS_COMPUTE_32F_FAST_TF32},
        {CUBLASLT_MATMUL_DESC_SCALE_TYPE, 4, CUDA_R_32F},
        {CUBLASLT_MATMUL_DESC_POINTER_MODE, 4, CUBLASLT_POINTER_MODE_HOST},
        {CUBLASLT_MATMUL_DESC_TRANSA, 4, CUBLAS_OP_N},
        {CUBLASLT_MATMUL_DESC_TRANSB, 4, CUBLAS_OP_N},
        {CUBLASLT_MATMUL_DESC_TRANSC, 4, CUBLAS_OP_N},
        {CUBLASLT_MATMUL_DESC_FILL_MODE, 4, CUBLAS_FILL_MODE_FULL},
        {CUBLASLT_MATMUL_DESC_EPILOGUE, 4, CUBLASLT_EPILOGUE_DEFAULT},
        {CUBLASLT_MATMUL_DESC_BIAS_POINTER, 8, 0},
        {CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, 8, 0},
        {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, 8, 0},
        {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 8, 0},
        {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, 8, 0},
        {CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, 8, 0},
        {CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, 4, 0},
        {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, 8, 0},
        {CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, 8, 0},
        {CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, 8, 0},
        {CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, 8, 0},
        {CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, 8, 0},
        {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, 4, -1},
        {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, 8, 0},
        {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, 8, 0},
        {CUBLASLT_MATMUL_DESC_FAST_ACCUM, 1, 0},
        {CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, 4, -1},
#ifdef OF_13_1
        {CUBLASLT_MATMUL_DESC_A_SCALE_MODE, 4, 0},
        {CUBLASLT_MATMUL_DESC_B_SCALE_MODE, 4, 0},
        {CUBLASLT_MATMUL_DESC_C_SCALE_MODE, 4, 0},
        {CUBLASLT_MATMUL_DESC_D_SCALE_MODE, 4, 0},
        {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, 4, 0},
        {CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, 8, 0},
        {CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, 4, 0},
        {CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR, 8, 0},
#endif
    };
    cublasLtMatmulDesc_t made = nullptr;
    expect_status("a descriptor", cublasLtMatmulDescCreate(&made, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F),
                  CUBLAS_STATUS_SUCCESS);
    cublasLtMatmulDescOpaque_t own;
    expect_status("a descriptor in place", cublasLtMatmulDescInit(&own, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F),
                  CUBLAS_STATUS_SUCCESS);
    for (const cublasLtMatmulDesc_t desc : {made, &own}) {
        try_attributes(
            "a descriptor", kAttributes, sizeof kAttributes / sizeof *kAttributes,
            [&](int attribute, const void* value, std::size_t bytes) {
                return cublasLtMatmulDescSetAttribute(desc, static_cast<cublasLtMatmulDescAttributes_t>(attribute),
                                                      value, bytes);
            },
            [&](int attribute, void* value, std::size_t bytes, std::size_t* written) {
                return cublasLtMatmulDescGetAttribute(desc, static_cast<cublasLtMatmulDescAttributes_t>(attribute),
                                                      value, bytes, written);
            });
    }
    std::int32_t op = CUBLAS_OP_T;
    std::size_t written = 0;
    expect_status("no descriptor", cublasLtMatmulDescSetAttribute(nullptr, CUBLASLT_MATMUL_DESC_TRANSA, &op, sizeof op),
                  CUBLAS_STATUS_INVALID_VALUE);
    expect_status("no descriptor",
                  cublasLtMatmulDescGetAttribute(nullptr, CUBLASLT_MATMUL_DESC_TRANSA, &op, sizeof op, &written),
                  CUBLAS_STATUS_INVALID_VALUE);
    expect_status("a descriptor's address", cublasLtMatmulDescCreate(nullptr, CUBLAS_COMPUTE_32F, CUDA_R_32F),
                  CUBLAS_STATUS_INVALID_VALUE);
    expect_status("a small place", cublasLtMatmulDescInit_internal(&own, 8, CUBLAS_COMPUTE_32F, CUDA_R_32F),
                  CUBLAS_STATUS_ALLOC_FAILED);
    expect_status("destroying a descriptor", cublasLtMatmulDescDestroy(made), CUBLAS_STATUS_SUCCESS);
    expect_status("destroying none", cublasLtMatmulDescDestroy(nullptr), CUBLAS_STATUS_SUCCESS);
}

void try_preference() {
    constexpr Attribute kAttributes[] = {
        {CUBLASLT_MATMUL_PREF_SEARCH_MODE, 4, CUBLASLT_SEARCH_BEST_FIT},
        {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 8, 0},
        {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, 4, CUBLASLT_REDUCTION_SCHEME_MASK},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 4, 256},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, 4, 256},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, 4, 256},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, 4, 256},
        {CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, 4, 0},
        {CUBLASLT_MATMUL_PREF_IMPL_MASK, 8, -1},
    };
    cublasLtMatmulPreference_t made = nullptr;
    expect_status("a preference", cublasLtMatmulPreferenceCreate(&made), CUBLAS_STATUS_SUCCESS);
    cublasLtMatmulPreferenceOpaque_t own;
    expect_status("a preference in place", cublasLtMatmulPreferenceInit(&own), CUBLAS_STATUS_SUCCESS);
    for (const cublasLtMatmulPreference_t preference : {made, &own}) {
        try_attributes(
            "a preference", kAttributes, sizeof kAttributes / sizeof *kAttributes,
            [&](int attribute, const void* value, std::size_t bytes) {
                return cublasLtMatmulPreferenceSetAttribute(
                    preference, static_cast<cublasLtMatmulPreferenceAttributes_t>(attribute), value, bytes);
            },
            [&](int attribute, void* value, std::size_t bytes, std::size_t* written) {
                return cublasLtMatmulPreferenceGetAttribute(
                    preference, static_cast<cublasLtMatmulPreferenceAttributes_t>(attribute), value, bytes, written);
            });
    }
    expect_status("a preference's address", cublasLtMatmulPreferenceCreate(nullptr), CUBLAS_STATUS_INVALID_VALUE);
    expect_status("a small place", cublasLtMatmulPreferenceInit_internal(&own, 8), CUBLAS_STATUS_ALLOC_FAILED);
    expect_status("destroying a preference", cublasLtMatmulPreferenceDestroy(made), CUBLAS_STATUS_SUCCESS);
    expect_status("destroying none", cublasLtMatmulPreferenceDestroy(nullptr), CUBLAS_STATUS_SUCCESS);
}

void try_without_a_handle() {
    expect_status("a handle's address", cublasLtCreate(nullptr), CUBLAS_STATUS_INVALID_VALUE);
    expect_status("destroying no handle", cublasLtDestroy(nullptr), CUBLAS_STATUS_INVALID_VALUE);
    cublasLtMatmulDescOpaque_t desc;
    cublasLtMatrixLayoutOpaque_t x;
    cublasLtMatmulPreferenceOpaque_t preference;
    cublasLtMatmulDescInit(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatrixLayoutInit(&x, CUDA_R_32F, 8, 8, 8);
    cublasLtMatmulPreferenceInit(&preference);
#ifdef OF_13_1  // 12.4 crashes
    cublasLtMatmulHeuristicResult_t found{};
    int count = 77;
    for (const int wanted : {0, 1}) {
        expect_status(
            "the heuristic without a handle",
            cublasLtMatmulAlgoGetHeuristic(nullptr, &desc, &x, &x, &x, &x, &preference, wanted, &found, &count),
            CUBLAS_STATUS_NOT_INITIALIZED);
        expect(count == 77, "the heuristic's count", count, 77);
    }
    expect_status("a matmul without a handle",
                  cublasLtMatmul(nullptr, &desc, nullptr, nullptr, &x, nullptr, &x, nullptr, nullptr, &x, nullptr, &x,
                                 nullptr, nullptr, 0, nullptr),
                  CUBLAS_STATUS_NOT_INITIALIZED);
    expect_status("a check without a handle",
                  cublasLtMatmulAlgoCheck(nullptr, &desc, &x, &x, &x, &x, &found.algo, &found),
                  CUBLAS_STATUS_NOT_INITIALIZED);
#endif
    int value = 0;
    expect_status("the version", cublasLtGetProperty(MAJOR_VERSION, &value), CUBLAS_STATUS_SUCCESS);
    expect(value == CUBLAS_VER_MAJOR, "the version", value, CUBLAS_VER_MAJOR);
    expect_status("no property", cublasLtGetProperty(static_cast<libraryPropertyType>(7), &value),
                  CUBLAS_STATUS_INVALID_VALUE);
    expect_status("a property's address", cublasLtGetProperty(MAJOR_VERSION, nullptr), CUBLAS_STATUS_INVALID_VALUE);
    expect(cublasLtGetVersion() == CUBLAS_VERSION, "the version", static_cast<int>(cublasLtGetVersion()),
           CUBLAS_VERSION);
}

void try_names() {
    struct Name {
        int status;
        const char *name, *text;
    };
    constexpr Name kNames[] = {
        {0, "CUBLAS_STATUS_SUCCESS", "success"},
        {1, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
        {3, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
        {7, "CUBLAS_STATUS_INVALID_VALUE", "an unsupported value or parameter was passed to the function"},
        {8, "CUBLAS_STATUS_ARCH_MISMATCH", "the function requires an architectural feature absent from the device"},
        {11, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"},
        {13, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch on the GPU"},
        {14, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
        {15, "CUBLAS_STATUS_NOT_SUPPORTED", "the requested functionality is not supported"},
        {16, "CUBLAS_STATUS_LICENSE_ERROR", "the license check failed"},
        {4, "unrecognized status", "unrecognized status"},
    };
    for (const Name& name : kNames) {
        const auto status = static_cast<cublasStatus_t>(name.status);
        expect(std::strcmp(cublasLtGetStatusName(status), name.name) == 0, cublasLtGetStatusName(status), 0,
               name.status);
        expect(std::strcmp(cublasLtGetStatusString(status), name.text) == 0, cublasLtGetStatusString(status), 0,
               name.status);
    }
}

}  // namespace

int main() {
    try_layout();
    try_desc();
    try_preference();
    try_without_a_handle();
    try_names();
    return wrong == 0 ? 0 : 1;
}
