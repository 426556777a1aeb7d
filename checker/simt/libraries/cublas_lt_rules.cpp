// SPDX-License-Identifier: MIT
#include "checker/simt/libraries/cublas_lt_rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>

#include "checker/simt/libraries/cublas_handle.h"

namespace simt {
namespace {

using std::string;

// A rule's words: what is wrong, or nothing.
using Wrong = std::optional<string>;

// ---- what a matrix may be ------------------------------------------------------------------------------------------------

struct Named {
    const char* name;
    const MatrixLayout& layout;
};

std::optional<Element> known_element(std::uint32_t type) {
    const std::optional<Element> element = element_of(static_cast<cudaDataType>(type));
    return element == Element::fp64 ? std::nullopt : element;
}

// What the CPU device lacks of layouts: CUBLAS_STATUS_NOT_SUPPORTED.
Wrong missing(const Named& x) {
    if (!known_element(x.layout.type)) {
        return fmt::format("{} has type {}: the CPU device's cuBLASLt has CUDA_R_32F, _16F and _16BF", x.name,
                           x.layout.type);
    }
    if (x.layout.order != CUBLASLT_ORDER_COL && x.layout.order != CUBLASLT_ORDER_ROW) {
        return fmt::format("{} has order {}: the CPU device's cuBLASLt has CUBLASLT_ORDER_COL and _ROW", x.name,
                           x.layout.order);
    }
    if (x.layout.batch_mode != CUBLASLT_BATCH_MODE_STRIDED || x.layout.plane_offset != 0) {
        return fmt::format("{} has arrays of pointers or planes: the CPU device's cuBLASLt has neither", x.name);
    }
    return std::nullopt;
}

// "cublasLtMatrixLayoutAttribute_t": columns do not overlap, and sizes are ints.
Wrong wrong_in(const Named& x, bool may_be_broadcast) {
    const MatrixLayout& l = x.layout;
    const bool columns = is_column_major(l);
    const auto least = static_cast<std::int64_t>(columns ? l.rows : l.columns);
    if (l.rows > INT_MAX || l.columns > INT_MAX) {
        return fmt::format("{} is {} x {}: sizes are ints (cublasLtMatrixLayoutAttribute_t)", x.name, l.rows,
                           l.columns);
    }
    if (l.ld < least && !(may_be_broadcast && l.ld == 0)) {
        return fmt::format("{} has ld {}, less than its {} {} (cublasLtMatrixLayoutAttribute_t)", x.name, l.ld, least,
                           columns ? "rows" : "columns");
    }
    return std::nullopt;
}

string size_of(const char* name, std::uint64_t rows, std::uint64_t columns) {
    return fmt::format("{} is {} x {}", name, rows, columns);
}

// ---- what the descriptors say against each other: CUBLAS_STATUS_INVALID_VALUE ("cublasLtMatmul()", return values: "in
// conflict or in an impossible configuration") ------------------------------------------------------------------------------

Wrong conflict_of_shapes(const LtMatmul& x) {
    for (const std::int32_t op : {x.desc.op_a, x.desc.op_b}) {
        if (!is_operation(static_cast<cublasOperation_t>(op))) {
            return fmt::format("{} is no operation: it is CUBLAS_OP_N, _T or _C (cublasOperation_t)", op);
        }
    }
    const bool a_is_plain = x.desc.op_a == CUBLAS_OP_N, b_is_plain = x.desc.op_b == CUBLAS_OP_N;
    const std::uint64_t a_rows = a_is_plain ? x.a.rows : x.a.columns, a_columns = a_is_plain ? x.a.columns : x.a.rows;
    const std::uint64_t b_rows = b_is_plain ? x.b.rows : x.b.columns, b_columns = b_is_plain ? x.b.columns : x.b.rows;
    if (a_columns != b_rows || a_rows != x.d.rows || b_columns != x.d.columns) {
        return fmt::format("{}, {}, {} (cublasLtMatmul())", size_of("op(A)", a_rows, a_columns),
                           size_of("op(B)", b_rows, b_columns), size_of("D", x.d.rows, x.d.columns));
    }
    if (x.c.rows != x.d.rows || x.c.columns != x.d.columns || x.c.type != x.d.type || x.c.order != x.d.order ||
        x.c.batch != x.d.batch) {
        return string("C and D differ in type, size, batch or order (cublasLtMatmul())");
    }
    if (x.a.batch != x.d.batch || x.b.batch != x.d.batch || x.d.batch < 1) {
        return fmt::format("A, B and D have batch counts {}, {} and {} (cublasLtMatrixLayoutAttribute_t)", x.a.batch,
                           x.b.batch, x.d.batch);
    }
    for (const Named& matrix : {Named{"A", x.a}, Named{"B", x.b}, Named{"D", x.d}}) {
        if (const Wrong wrong = wrong_in(matrix, false)) {
            return wrong;
        }
    }
    return wrong_in({"C", x.c}, true);
}

Wrong conflict_of_epilogue(const LtMatmul& x) {
    const Epilogue epilogue = epilogue_of(x.desc);
    if (epilogue.has_aux()) {
        constexpr std::int64_t kMultiple = 8;
        const auto least = static_cast<std::int64_t>(is_column_major(x.d) ? x.d.rows : x.d.columns);
        if (x.desc.aux_ld < least || x.desc.aux_ld % kMultiple != 0) {
            return fmt::format(
                "AUX has ld {}: it must be a multiple of {}, and no less than D's {} {} "
                "(cublasLtMatmulDescAttributes_t)",
                x.desc.aux_ld, kMultiple, least, is_column_major(x.d) ? "rows" : "columns");
        }
        if (x.d.batch > 1 && x.desc.aux_stride % kMultiple != 0) {
            return fmt::format("AUX has batch stride {}: it must be a multiple of {} (cublasLtMatmulDescAttributes_t)",
                               x.desc.aux_stride, kMultiple);
        }
        if (x.desc.aux_type != -1 && x.desc.aux_type != static_cast<std::int32_t>(x.d.type)) {
            return fmt::format("AUX has type {}, and D {} (cublasLtMatmulDescAttributes_t)", x.desc.aux_type, x.d.type);
        }
    }
    if (epilogue.has_bias() && x.desc.bias_type != -1 && x.desc.bias_type != static_cast<std::int32_t>(x.d.type)) {
        return fmt::format("the bias has type {}, and D {} (cublasLtMatmul(), table of types)", x.desc.bias_type,
                           x.d.type);
    }
    return std::nullopt;
}

Wrong conflict_of_scales(const MatmulDesc& x) {
    if (x.pointer_mode < CUBLASLT_POINTER_MODE_HOST ||
        x.pointer_mode > CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST) {
        return fmt::format("{} is no pointer mode (cublasLtPointerMode_t)", x.pointer_mode);
    }
    const void* const pointers[] = {x.a_scale,     x.b_scale,   x.c_scale, x.d_scale,
                                    x.d_out_scale, x.aux_scale, x.d_amax,  x.aux_amax};
    if (std::ranges::any_of(pointers, [](const void* pointer) { return pointer != nullptr; })) {
        return string("scale factors and largest values are for FP8 and FP4 (cublasLtMatmulDescAttributes_t)");
    }
    return std::nullopt;
}

// ---- what the library, or the CPU device, does not do: CUBLAS_STATUS_NOT_SUPPORTED -----------------------------------------

constexpr std::uint32_t kEpilogues[] = {
    CUBLASLT_EPILOGUE_DEFAULT,     CUBLASLT_EPILOGUE_RELU,   CUBLASLT_EPILOGUE_BIAS,
    CUBLASLT_EPILOGUE_RELU_BIAS,   CUBLASLT_EPILOGUE_GELU,   CUBLASLT_EPILOGUE_GELU_BIAS,
    CUBLASLT_EPILOGUE_GELU_AUX,    CUBLASLT_EPILOGUE_DGELU,  CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
    CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA, CUBLASLT_EPILOGUE_BGRADB,
};

// The tables of types of "cublasLtMatmul()", as far as the CPU device has them.
Wrong unsupported_types(const LtMatmul& x) {
    const bool plain = x.desc.compute == CUBLAS_COMPUTE_32F || x.desc.compute == CUBLAS_COMPUTE_32F_PEDANTIC;
    if (!plain && inputs_of_compute(x.desc.compute) == Inputs::as_they_are) {
        return fmt::format(
            "compute type {}: the CPU device's cuBLASLt has CUBLAS_COMPUTE_32F, its _PEDANTIC, "
            "_FAST_TF32, _FAST_16F and _FAST_16BF",
            x.desc.compute);
    }
    if (x.desc.scale != CUDA_R_32F) {
        return fmt::format("scale type {}: with CUBLAS_COMPUTE_32F it is CUDA_R_32F (cublasLtMatmul(), table of types)",
                           x.desc.scale);
    }
    if (x.a.type != x.b.type) {
        return string("A and B are of different types (cublasLtMatmul(), table of types)");
    }
    const bool all_are_32 = x.a.type == CUDA_R_32F && x.d.type == CUDA_R_32F;
    if (!plain && !all_are_32) {
        return string("CUBLAS_COMPUTE_32F_FAST_… is for matrices of CUDA_R_32F (cublasLtMatmul(), table of types)");
    }
    if (x.d.type != x.a.type && x.d.type != CUDA_R_32F) {
        return string("D has the type of A and B, or CUDA_R_32F (cublasLtMatmul(), table of types)");
    }
    return std::nullopt;
}

Wrong unsupported(const LtMatmul& x) {
    for (const Named& matrix : {Named{"A", x.a}, Named{"B", x.b}, Named{"C", x.c}, Named{"D", x.d}}) {
        if (const Wrong wrong = missing(matrix)) {
            return wrong;
        }
    }
    if (const Wrong wrong = unsupported_types(x)) {
        return wrong;
    }
    if (std::ranges::find(kEpilogues, x.desc.epilogue) == std::end(kEpilogues)) {
        return fmt::format("epilogue {}: the CPU device has none of this number", x.desc.epilogue);
    }
    if (x.desc.op_c != CUBLAS_OP_N) {
        return string("C is transposed (cublasLtMatmulDescAttributes_t)");
    }
    if (x.desc.fill != CUBLAS_FILL_MODE_FULL || x.desc.emulation != nullptr) {
        return string("a triangle of D, or emulated numbers: the CPU device has neither");
    }
    return std::nullopt;
}

// ---- algorithms ------------------------------------------------------------------------------------------------------------

constexpr std::uint32_t kMark = 0x616c676f;
constexpr long kTile = 128;            // rows and columns of D that a block of the algorithm computes
constexpr long kLeastToSplit = 64;     // of k
constexpr std::uint64_t kWidest = 16;  // bytes that a thread loads at once

// The bytes that loads of a matrix may take at once.
std::uint8_t alignment_of(const MatrixLayout& x, std::uint32_t wanted) {
    const std::uint64_t bytes = bytes_of(element_of(x));
    const std::uint64_t together = kWidest | wanted | static_cast<std::uint64_t>(x.ld) * bytes |
                                   (x.batch > 1 ? static_cast<std::uint64_t>(x.stride) * bytes : 0);
    return static_cast<std::uint8_t>(together & -together);
}

std::uint8_t alignment_of(const void* pointer) {
    const std::uint64_t together = kWidest | reinterpret_cast<std::uintptr_t>(pointer);
    return static_cast<std::uint8_t>(together & -together);
}

std::uint32_t hash_of(const LtMatmul& x) {
    const std::uint32_t values[] = {
        x.a.type,
        x.b.type,
        x.d.type,
        static_cast<std::uint32_t>(x.a.order),
        static_cast<std::uint32_t>(x.b.order),
        static_cast<std::uint32_t>(x.d.order),
        static_cast<std::uint32_t>(x.desc.op_a),
        static_cast<std::uint32_t>(x.desc.op_b),
        static_cast<std::uint32_t>(x.desc.compute),
        x.desc.epilogue,
    };
    std::uint32_t hash = 2166136261U;  // FNV-1a
    for (const std::uint32_t value : values) { hash = (hash ^ value) * 16777619U; }
    return hash;
}

std::uint64_t implementation_of(const LtMatmul& x) {
    const std::uint64_t sums = CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F;
    const Element element = element_of(x.a);
    switch (inputs_of_compute(x.desc.compute)) {
        case Inputs::tf32:
            return sums | CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32;
        case Inputs::bf16:
            return sums | CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF;
        case Inputs::fp16:
            return sums | CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F;
        case Inputs::as_they_are:
            break;
    }
    return sums |
           (element == Element::fp32   ? CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F
            : element == Element::bf16 ? CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF
                                       : CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F);
}

}  // namespace

cublasStatus_t refuse(const char* function, const Refusal& refusal) {
    return refuse(function, refusal.status, refusal.why);
}

Epilogue epilogue_of(const MatmulDesc& desc) {
    constexpr std::uint32_t kBiasGradient = 16, kGeluGradient = 64, kAux = 128;  // the others have names of their own
    const auto has = [&](std::uint32_t bit) { return (desc.epilogue & bit) != 0; };
    const bool gradient = has(kGeluGradient);
    return {.adds_bias = has(CUBLASLT_EPILOGUE_BIAS),
            .writes_aux = has(kAux) && !gradient,
            .gelu = has(CUBLASLT_EPILOGUE_GELU),
            .relu = has(CUBLASLT_EPILOGUE_RELU),
            .gelu_gradient = gradient,
            .bias_gradient = has(kBiasGradient),
            .sums_a = has(CUBLASLT_EPILOGUE_BGRADA),
            .sums_b = has(CUBLASLT_EPILOGUE_BGRADB)};
}

Element element_of(const MatrixLayout& layout) {
    return known_element(layout.type).value();
}

std::optional<Refusal> refusal_of(const LtMatmul& x) {
    if (const Wrong wrong = unsupported(x)) {
        return Refusal{CUBLAS_STATUS_NOT_SUPPORTED, *wrong};
    }
    for (const Wrong& wrong : {conflict_of_shapes(x), conflict_of_epilogue(x), conflict_of_scales(x.desc)}) {
        if (wrong) {
            return Refusal{CUBLAS_STATUS_INVALID_VALUE, *wrong};
        }
    }
    return std::nullopt;
}

std::uint64_t Algorithm::tiles() const {
    const auto of = [](std::uint32_t size) { return (std::uint64_t{size} + kTile - 1) / kTile; };
    return of(m) * of(n) * batch;
}

std::optional<Algorithm> choose(const LtMatmul& x, const MatmulPreference& preference) {
    Algorithm chosen{.mark = kMark,
                     .batch = static_cast<std::uint32_t>(x.batch()),
                     .m = static_cast<std::uint32_t>(x.m()),
                     .n = static_cast<std::uint32_t>(x.n()),
                     .k = static_cast<std::uint32_t>(x.k()),
                     .rest = hash_of(x),
                     .align_a = alignment_of(x.a, preference.align_a),
                     .align_b = alignment_of(x.b, preference.align_b),
                     .align_c = alignment_of(x.c, preference.align_c),
                     .align_d = alignment_of(x.d, preference.align_d),
                     .align_bias = alignment_of(x.desc.bias),
                     .align_aux = alignment_of(x.desc.aux)};
    const std::uint64_t counters =
        (chosen.tiles() * sizeof(std::uint32_t) + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
    if (x.k() >= kLeastToSplit && counters <= preference.workspace_bytes &&
        (preference.reductions & CUBLASLT_REDUCTION_SCHEME_INPLACE) != 0) {
        chosen.parts = 2;
        chosen.workspace_bytes = counters;
    }
    const bool aligned = chosen.align_a >= bytes_of(element_of(x.a)) && chosen.align_b >= bytes_of(element_of(x.b)) &&
                         chosen.align_c >= bytes_of(element_of(x.c)) && chosen.align_d >= bytes_of(element_of(x.d));
    const bool waves = !(preference.waves > 0) || static_cast<float>(chosen.tiles() * chosen.parts) <= preference.waves;
    const bool implementation = (implementation_of(x) & ~preference.implementations) == 0;
    return aligned && waves && implementation ? std::optional(chosen) : std::nullopt;
}

std::uint8_t widest_access(const MatrixLayout& layout, const void* begin) {
    return alignment_of(layout, alignment_of(begin));
}

std::optional<Refusal> refusal_of(const Algorithm& algorithm, const LtMatmul& x) {
    if (algorithm.mark != kMark) {
        return Refusal{
            CUBLAS_STATUS_INVALID_VALUE,
            "the algorithm is none that cublasLtMatmulAlgoGetHeuristic() gave: look at its status and at how "
            "many it found (cublasLtMatmulAlgoCheck())"};
    }
    if (algorithm.m != x.m() || algorithm.n != x.n() || algorithm.k != x.k() || algorithm.batch != x.batch()) {
        return Refusal{
            CUBLAS_STATUS_INVALID_VALUE,
            fmt::format("the algorithm was chosen for m = {}, n = {}, k = {}, batch {}, and this is m = {}, "
                        "n = {}, k = {}, batch {} (cublasLtMatmulAlgoCheck(); not verified for sizes)",
                        algorithm.m, algorithm.n, algorithm.k, algorithm.batch, x.m(), x.n(), x.k(), x.batch())};
    }
    if (algorithm.rest != hash_of(x)) {
        return Refusal{CUBLAS_STATUS_INVALID_VALUE,
                       "the algorithm was chosen for other types, orders or operations, or for another epilogue "
                       "(cublasLtMatmulAlgoCheck())"};
    }
    return std::nullopt;
}

}  // namespace simt
