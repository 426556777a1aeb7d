// SPDX-License-Identifier: MIT
//
// Which matmuls cuBLASLt refuses, and with which status: one that is right, changed in one thing at a time. One line each;
// simtcc compiles it for the CPU device, nvcc for a GPU, and `make gpu-report PART=libs` compares the two.
#include <cublasLt.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace {

template <class T>
void set(cublasLtMatmulDescOpaque_t& desc, cublasLtMatmulDescAttributes_t attribute, T value) {
    cublasLtMatmulDescSetAttribute(&desc, attribute, &value, sizeof value);
}
template <class T>
void set(cublasLtMatrixLayoutOpaque_t& layout, cublasLtMatrixLayoutAttribute_t attribute, T value) {
    cublasLtMatrixLayoutSetAttribute(&layout, attribute, &value, sizeof value);
}
template <class T>
void set(cublasLtMatmulPreferenceOpaque_t& preference, cublasLtMatmulPreferenceAttributes_t attribute, T value) {
    cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof value);
}

// D (64 x 32) = A (64 x 128) B (128 x 32), with room for more; k is split, so that a workspace is needed.
struct Matmul {
    explicit Matmul(void* memory) : bytes(static_cast<char*>(memory)) {
        cublasLtMatmulDescInit(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
        cublasLtMatrixLayoutInit(&a, CUDA_R_32F, 64, 128, 64);
        cublasLtMatrixLayoutInit(&b, CUDA_R_32F, 128, 32, 128);
        cublasLtMatrixLayoutInit(&c, CUDA_R_32F, 64, 32, 64);
        cublasLtMatrixLayoutInit(&d, CUDA_R_32F, 64, 32, 64);
        cublasLtMatmulPreferenceInit(&preference);
        set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{1} << 16);
    }
    static constexpr std::size_t kPlace = 1 << 17, kPlaces = 7;
    void* at(int place) const { return bytes + static_cast<std::size_t>(place) * kPlace; }

    cublasStatus_t choose(cublasLtHandle_t lt) {
        return cublasLtMatmulAlgoGetHeuristic(lt, &desc, &a, &b, &c, &d, &preference, 1, &found, &count);
    }
    cublasStatus_t run(cublasLtHandle_t lt) {
        return cublasLtMatmul(lt, &desc, alpha, pointer_a, &a, pointer_b, &b, beta, pointer_c, &c, pointer_d, &d, algo,
                              workspace, workspace_bytes, nullptr);
    }

    char* bytes;
    cublasLtMatmulDescOpaque_t desc;
    cublasLtMatrixLayoutOpaque_t a, b, c, d;
    cublasLtMatmulPreferenceOpaque_t preference;
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    // What the call gets; `change` may take some of it away.
    float one = 1.0F, zero = 0.0F;
    const void *alpha = &one, *beta = &zero;
    const void *pointer_a = at(0), *pointer_b = at(1), *pointer_c = at(2);
    void* pointer_d = at(2);
    void* workspace = at(3);
    std::size_t workspace_bytes = kPlace;
    const cublasLtMatmulAlgo_t* algo = &found.algo;
};

// `before` the heuristic is asked, or between that and the call; what each of them returns then.
struct Row {
    const char* what;
    std::function<void(Matmul&)> before, between;
    cublasStatus_t chosen, run;
};

const cublasStatus_t kOk = CUBLAS_STATUS_SUCCESS, kInvalid = CUBLAS_STATUS_INVALID_VALUE,
                     kNotSupported = CUBLAS_STATUS_NOT_SUPPORTED;

// The call goes without an algorithm, so that the descriptors themselves are judged.
Row descriptors(const char* what, std::function<void(Matmul&)> change, cublasStatus_t run) {
    return {what, std::move(change), [](Matmul& x) { x.algo = nullptr; }, run == kOk ? kOk : kNotSupported, run};
}
Row pointers(const char* what, std::function<void(Matmul&)> change, cublasStatus_t run) {
    return {what, [](Matmul&) {}, std::move(change), kOk, run};
}

void with_epilogue(Matmul& x, cublasLtEpilogue_t epilogue) {
    set(x.desc, CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(epilogue));
    set(x.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, x.at(4));
    set(x.desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, x.at(5));
    set(x.desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{64});
}

void in_batches(Matmul& x, std::int32_t a, std::int32_t others) {
    set(x.a, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, a);
    for (cublasLtMatrixLayoutOpaque_t* layout : {&x.b, &x.c, &x.d}) {
        set(*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, others);
        set(*layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, std::int64_t{4096});
    }
}

std::vector<Row> rows() {
    const auto type_of_all = [](Matmul& x, cudaDataType in, cudaDataType out) {
        set(x.a, CUBLASLT_MATRIX_LAYOUT_TYPE, static_cast<std::uint32_t>(in));
        set(x.b, CUBLASLT_MATRIX_LAYOUT_TYPE, static_cast<std::uint32_t>(in));
        set(x.c, CUBLASLT_MATRIX_LAYOUT_TYPE, static_cast<std::uint32_t>(out));
        set(x.d, CUBLASLT_MATRIX_LAYOUT_TYPE, static_cast<std::uint32_t>(out));
    };
    return {
        {"nothing is wrong", [](Matmul&) {}, [](Matmul&) {}, kOk, kOk},
        // Shapes.
        descriptors(
            "k differs", [](Matmul& x) { set(x.b, CUBLASLT_MATRIX_LAYOUT_ROWS, std::uint64_t{127}); }, kInvalid),
        descriptors(
            "A's rows are not D's", [](Matmul& x) { set(x.a, CUBLASLT_MATRIX_LAYOUT_ROWS, std::uint64_t{63}); },
            kInvalid),
        descriptors(
            "B's columns are not D's", [](Matmul& x) { set(x.b, CUBLASLT_MATRIX_LAYOUT_COLS, std::uint64_t{31}); },
            kInvalid),
        descriptors(
            "A is transposed", [](Matmul& x) { set(x.desc, CUBLASLT_MATMUL_DESC_TRANSA, std::int32_t{CUBLAS_OP_T}); },
            kInvalid),
        descriptors(
            "an operation that is none", [](Matmul& x) { set(x.desc, CUBLASLT_MATMUL_DESC_TRANSA, std::int32_t{7}); },
            kInvalid),
        descriptors(
            "C's columns are not D's", [](Matmul& x) { set(x.c, CUBLASLT_MATRIX_LAYOUT_COLS, std::uint64_t{31}); },
            kInvalid),
        descriptors(
            "C's order is not D's",
            [](Matmul& x) { set(x.c, CUBLASLT_MATRIX_LAYOUT_ORDER, std::int32_t{CUBLASLT_ORDER_ROW}); }, kInvalid),
        descriptors(
            "A's ld is too small", [](Matmul& x) { set(x.a, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{63}); }, kInvalid),
        descriptors(
            "D's ld is too small", [](Matmul& x) { set(x.d, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{60}); }, kInvalid),
        descriptors(
            "C's ld is 0", [](Matmul& x) { set(x.c, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{0}); }, kOk),
        descriptors(
            "A's ld is 0", [](Matmul& x) { set(x.a, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{0}); }, kInvalid),
        descriptors(
            "D is row-major, and its ld too small",
            [](Matmul& x) {
                for (cublasLtMatrixLayoutOpaque_t* layout : {&x.c, &x.d}) {
                    set(*layout, CUBLASLT_MATRIX_LAYOUT_ORDER, std::int32_t{CUBLASLT_ORDER_ROW});
                    set(*layout, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{31});
                }
            },
            kInvalid),
        descriptors(
            "batches", [](Matmul& x) { in_batches(x, 3, 3); }, kOk),
        descriptors(
            "A is in no batch", [](Matmul& x) { in_batches(x, 1, 3); }, kInvalid),
        descriptors(
            "a batch of none", [](Matmul& x) { in_batches(x, 0, 0); }, kInvalid),
        // Types.
        descriptors(
            "bf16", [=](Matmul& x) { type_of_all(x, CUDA_R_16BF, CUDA_R_16BF); }, kOk),
        descriptors(
            "fp16 to fp32", [=](Matmul& x) { type_of_all(x, CUDA_R_16F, CUDA_R_32F); }, kOk),
        descriptors(
            "fp32 to fp16", [=](Matmul& x) { type_of_all(x, CUDA_R_32F, CUDA_R_16F); }, kNotSupported),
        descriptors(
            "bf16 to fp16", [=](Matmul& x) { type_of_all(x, CUDA_R_16BF, CUDA_R_16F); }, kNotSupported),
        descriptors(
            "A and B of two types", [](Matmul& x) { set(x.a, CUBLASLT_MATRIX_LAYOUT_TYPE, std::uint32_t{CUDA_R_16F}); },
            kNotSupported),
        descriptors(
            "TF32",
            [](Matmul& x) {
                set(x.desc, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, std::int32_t{CUBLAS_COMPUTE_32F_FAST_TF32});
            },
            kOk),
        descriptors(
            "TF32 of bf16",
            [=](Matmul& x) {
                set(x.desc, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, std::int32_t{CUBLAS_COMPUTE_32F_FAST_TF32});
                type_of_all(x, CUDA_R_16BF, CUDA_R_16BF);
            },
            kNotSupported),
        descriptors(
            "alpha is a double",
            [](Matmul& x) { set(x.desc, CUBLASLT_MATMUL_DESC_SCALE_TYPE, std::int32_t{CUDA_R_64F}); }, kNotSupported),
        descriptors(
            "C is transposed", [](Matmul& x) { set(x.desc, CUBLASLT_MATMUL_DESC_TRANSC, std::int32_t{CUBLAS_OP_T}); },
            kNotSupported),
        descriptors(
            "scale factors", [](Matmul& x) { set(x.desc, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, x.at(6)); }, kInvalid),
        // Epilogues.
        descriptors(
            "a bias", [](Matmul& x) { with_epilogue(x, CUBLASLT_EPILOGUE_BIAS); }, kOk),
        descriptors(
            "a bias of another type",
            [](Matmul& x) {
                with_epilogue(x, CUBLASLT_EPILOGUE_BIAS);
                set(x.desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, std::int32_t{CUDA_R_16BF});
            },
            kInvalid),
        descriptors(
            "AUX", [](Matmul& x) { with_epilogue(x, CUBLASLT_EPILOGUE_GELU_AUX); }, kOk),
        descriptors(
            "AUX without an ld",
            [](Matmul& x) {
                with_epilogue(x, CUBLASLT_EPILOGUE_GELU_AUX);
                set(x.desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{0});
            },
            kInvalid),
        descriptors(
            "AUX with an ld less than D's rows",
            [](Matmul& x) {
                with_epilogue(x, CUBLASLT_EPILOGUE_GELU_AUX);
                set(x.desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{56});
            },
            kInvalid),
        descriptors(
            "AUX with an ld that is no multiple of 8",
            [](Matmul& x) {
                with_epilogue(x, CUBLASLT_EPILOGUE_GELU_AUX);
                set(x.desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{68});
            },
            kInvalid),
        descriptors(
            "AUX of another type",
            [](Matmul& x) {
                with_epilogue(x, CUBLASLT_EPILOGUE_GELU_AUX);
                set(x.desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, std::int32_t{CUDA_R_16BF});
            },
            kInvalid),
        descriptors(
            "an epilogue that is none", [](Matmul& x) { set(x.desc, CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{3}); },
            kNotSupported),
        // Pointers.
        pointers(
            "alpha is null", [](Matmul& x) { x.alpha = nullptr; }, kInvalid),
        pointers(
            "beta is null", [](Matmul& x) { x.beta = nullptr; }, kInvalid),
        pointers(
            "A is null", [](Matmul& x) { x.pointer_a = nullptr; }, kInvalid),
        pointers(
            "D is null", [](Matmul& x) { x.pointer_d = nullptr; }, kInvalid),
        pointers(
            "C is null, and beta is not 0",
            [](Matmul& x) {
                x.pointer_c = nullptr;
                x.zero = 1.0F;
            },
            kInvalid),
        pointers(
            "C is null, and beta is 0", [](Matmul& x) { x.pointer_c = nullptr; }, kOk),
        {"a bias that is null",
         [](Matmul& x) {
             with_epilogue(x, CUBLASLT_EPILOGUE_BIAS);
             set(x.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<void*>(nullptr));
         },
         [](Matmul&) {}, kOk, kInvalid},
        {"AUX that is null",
         [](Matmul& x) {
             with_epilogue(x, CUBLASLT_EPILOGUE_GELU_AUX);
             set(x.desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, static_cast<void*>(nullptr));
         },
         [](Matmul&) {}, kOk, kInvalid},
        // The workspace.
        pointers(
            "no workspace",
            [](Matmul& x) {
                x.workspace = nullptr;
                x.workspace_bytes = 0;
            },
            kInvalid),
        pointers(
            "a workspace of no address", [](Matmul& x) { x.workspace = nullptr; }, kInvalid),
        pointers(
            "a workspace that is too small", [](Matmul& x) { x.workspace_bytes = x.found.workspaceSize - 1; },
            kInvalid),
        pointers(
            "a workspace that is not aligned", [](Matmul& x) { x.workspace = static_cast<char*>(x.workspace) + 128; },
            kInvalid),
        pointers(
            "no workspace and no algorithm",
            [](Matmul& x) {
                x.algo = nullptr;
                x.workspace = nullptr;
                x.workspace_bytes = 0;
            },
            kOk),
        {"no workspace where none was allowed",
         [](Matmul& x) { set(x.preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{0}); },
         [](Matmul& x) {
             x.workspace = nullptr;
             x.workspace_bytes = 0;
         },
         kOk, kOk},
        {"no workspace where k is not split",
         [](Matmul& x) { set(x.preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t{0}); },
         [](Matmul& x) {
             x.workspace = nullptr;
             x.workspace_bytes = 0;
         },
         kOk, kOk},
        // The algorithm.
        pointers(
            "an algorithm of nobody", [](Matmul& x) { x.found.algo = {}; }, kInvalid),
        pointers(
            "an algorithm for another shape",
            [](Matmul& x) {
                set(x.b, CUBLASLT_MATRIX_LAYOUT_COLS, std::uint64_t{16});
                set(x.c, CUBLASLT_MATRIX_LAYOUT_COLS, std::uint64_t{16});
                set(x.d, CUBLASLT_MATRIX_LAYOUT_COLS, std::uint64_t{16});
            },
            kInvalid),
        pointers(
            "an algorithm for another epilogue", [](Matmul& x) { with_epilogue(x, CUBLASLT_EPILOGUE_GELU_BIAS); },
            kInvalid),
        // Alignment.
        pointers(
            "A is less aligned than was said",
            [](Matmul& x) { x.pointer_a = static_cast<const char*>(x.pointer_a) + 8; }, kInvalid),
        {"A is as aligned as was said",
         [](Matmul& x) { set(x.preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, std::uint32_t{8}); },
         [](Matmul& x) { x.pointer_a = static_cast<const char*>(x.pointer_a) + 8; }, kOk, kOk},
        {"an alignment of less than an element",
         [](Matmul& x) { set(x.preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, std::uint32_t{2}); },
         [](Matmul& x) { x.algo = nullptr; }, kNotSupported, kOk},
        {"a bias that is less aligned than the heuristic's",
         [](Matmul& x) { with_epilogue(x, CUBLASLT_EPILOGUE_BIAS); },
         [](Matmul& x) {
             set(x.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<void*>(static_cast<char*>(x.at(4)) + 4));
         },
         kOk, kInvalid},
        // Preferences.
        {"an implementation that is not allowed",
         [](Matmul& x) {
             set(x.preference, CUBLASLT_MATMUL_PREF_IMPL_MASK, std::uint64_t{CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA});
         },
         [](Matmul& x) { x.algo = nullptr; }, kNotSupported, kOk},
    };
}

bool says_rows = false;
int tried = 0, wrong = 0;

void expect(const char* what, const char* function, cublasStatus_t got, cublasStatus_t wanted) {
    tried++;
    wrong += got == wanted ? 0 : 1;
    if (says_rows || got != wanted) {
        std::printf("%s: %s gives %s%s\n", what, function, cublasLtGetStatusName(got), got == wanted ? "" : ", wrong");
    }
}

}  // namespace

int main(int argc, char** argv) {
    says_rows = argc > 1 && std::string(argv[1]) == "--rows";
    void* memory = nullptr;
    cudaMalloc(&memory, Matmul::kPlaces * Matmul::kPlace);
    cudaMemset(memory, 0, Matmul::kPlaces * Matmul::kPlace);
    cublasLtHandle_t lt = nullptr;
    if (cublasLtCreate(&lt) != CUBLAS_STATUS_SUCCESS) {
        std::fputs("lt_statuses: cublasLtCreate failed\n", stderr);
        return 2;
    }
    for (const Row& row : rows()) {
        Matmul matmul(memory);
        row.before(matmul);
        expect(row.what, "cublasLtMatmulAlgoGetHeuristic", matmul.choose(lt), row.chosen);
        expect(row.what, matmul.count == 1 ? "with an algorithm, cublasLtMatmul" : "without one, cublasLtMatmul",
               (row.between(matmul), matmul.run(lt)), row.run);
        if (matmul.count != (row.chosen == kOk ? 1 : 0)) {
            std::printf("%s: %d results, wrong\n", row.what, matmul.count);
            wrong++;
        }
        cudaDeviceSynchronize();
    }
    // How many algorithms are wanted, and whether one is right for a matmul.
    Matmul matmul(memory);
    expect("none is wanted", "cublasLtMatmulAlgoGetHeuristic",
           cublasLtMatmulAlgoGetHeuristic(lt, &matmul.desc, &matmul.a, &matmul.b, &matmul.c, &matmul.d,
                                          &matmul.preference, 0, &matmul.found, &matmul.count),
           kInvalid);
    expect("a choice", "cublasLtMatmulAlgoGetHeuristic", matmul.choose(lt), kOk);
    cublasLtMatmulHeuristicResult_t checked{};
    const auto check = [&] {
        return cublasLtMatmulAlgoCheck(lt, &matmul.desc, &matmul.a, &matmul.b, &matmul.c, &matmul.d, &matmul.found.algo,
                                       &checked);
    };
    expect("it is checked", "cublasLtMatmulAlgoCheck", check(), kOk);
    if (checked.workspaceSize != matmul.found.workspaceSize || checked.workspaceSize == 0) {
        std::printf("it is checked: a workspace of %zu bytes, wrong\n", checked.workspaceSize);
        wrong++;
    }
    with_epilogue(matmul, CUBLASLT_EPILOGUE_BIAS);
    expect("it is checked for another epilogue", "cublasLtMatmulAlgoCheck", check(), kInvalid);
    expect("a handle", "cublasLtDestroy", cublasLtDestroy(lt), kOk);
    cudaFree(memory);
    std::fprintf(stderr, "lt_statuses: %d of %d are not as the CPU device's should be\n", wrong, tried);
    return wrong == 0 ? 0 : 1;
}
