// SPDX-License-Identifier: MIT
//
// Matmuls of cuBLASLt, each against three loops in double: operations, orders of memory, types, epilogues, batches, gaps
// between columns. One line each; simtcc compiles it for the CPU device, nvcc for a GPU, and `make gpu-report
// PART=libs` compares the two.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct Case {
    std::string name;
    int m = 19, n = 11, k = 29;
    cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
    cublasLtOrder_t order_a = CUBLASLT_ORDER_COL, order_b = CUBLASLT_ORDER_COL, order_d = CUBLASLT_ORDER_COL;
    cudaDataType in = CUDA_R_32F, out = CUDA_R_32F;
    cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    float alpha = 1.0F, beta = 0.0F;
    int batch = 1;
    bool same_a = false;    // the batch's A is one matrix: its stride is 0
    bool in_place = false;  // C is D
    int gap = 0;            // elements between two columns, or rows
    cublasLtPointerMode_t pointers = CUBLASLT_POINTER_MODE_HOST;
};

std::size_t bytes_of(cudaDataType type) {
    return type == CUDA_R_32F ? 4 : 2;
}

// What a value becomes in memory of this type.
void put(std::vector<std::uint8_t>& bytes, cudaDataType type, std::size_t index, double value) {
    const float narrowed = static_cast<float>(value);
    if (type == CUDA_R_32F) {
        std::memcpy(&bytes[index * 4], &narrowed, 4);
    } else if (type == CUDA_R_16F) {
        const __half half = __float2half(narrowed);
        std::memcpy(&bytes[index * 2], &half, 2);
    } else {
        const __nv_bfloat16 half = __float2bfloat16(narrowed);
        std::memcpy(&bytes[index * 2], &half, 2);
    }
}
double get(const std::vector<std::uint8_t>& bytes, cudaDataType type, std::size_t index) {
    float wide = 0;
    if (type == CUDA_R_32F) {
        std::memcpy(&wide, &bytes[index * 4], 4);
    } else if (type == CUDA_R_16F) {
        __half half;
        std::memcpy(&half, &bytes[index * 2], 2);
        wide = __half2float(half);
    } else {
        __nv_bfloat16 half;
        std::memcpy(&half, &bytes[index * 2], 2);
        wide = __bfloat162float(half);
    }
    return static_cast<double>(wide);
}

// Device memory for all cases: a place for each of a case's matrices.
struct Memory {
    static constexpr std::size_t kPlace = 1 << 17;
    static constexpr int kPlaces = 9;
    Memory() { cudaMalloc(&bytes, kPlaces * kPlace); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { cudaFree(bytes); }
    void* at(int place) const { return static_cast<char*>(bytes) + static_cast<std::size_t>(place) * kPlace; }

    void* bytes = nullptr;
};

// Matrices of a batch, on the host and on the device.
struct Matrices {
    Matrices(void* memory, int all_rows, int all_columns, cudaDataType of_type, cublasLtOrder_t in_order, int ld_more,
             int count, bool same)
        : rows(all_rows),
          columns(all_columns),
          type(of_type),
          order(in_order),
          ld((in_order == CUBLASLT_ORDER_COL ? all_rows : all_columns) + ld_more),
          stride(same ? 0
                      : static_cast<std::int64_t>(ld) * (in_order == CUBLASLT_ORDER_COL ? all_columns : all_rows) + 8),
          host(static_cast<std::size_t>(
                   stride * (count - 1) +
                   ld * static_cast<std::int64_t>(in_order == CUBLASLT_ORDER_COL ? all_columns : all_rows)) *
               bytes_of(of_type)),
          device(host.size() <= Memory::kPlace ? memory : nullptr) {}

    std::size_t index(int batch, int row, int column) const {
        const std::int64_t inner = order == CUBLASLT_ORDER_COL ? row : column,
                           outer = order == CUBLASLT_ORDER_COL ? column : row;
        return static_cast<std::size_t>(batch * stride + outer * ld + inner);
    }
    double at(int batch, int row, int column) const { return get(host, type, index(batch, row, column)); }
    // Everything, gaps too, gets a value that comes from its place.
    void fill(unsigned seed) {
        for (std::size_t i = 0; i < host.size() / bytes_of(type); i++) {
            seed = seed * 1664525U + 1013904223U;
            put(host, type, i, static_cast<double>(seed >> 8) / 8388608.0 - 1.0);
        }
        send();
    }
    void fill_with_nan() {
        for (std::size_t i = 0; i < host.size() / bytes_of(type); i++) { put(host, type, i, std::nan("")); }
        send();
    }
    void send() {
        before = host;
        cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice);
    }
    void fetch() { cudaMemcpy(host.data(), device, host.size(), cudaMemcpyDeviceToHost); }
    cublasLtMatrixLayout_t layout(int count) const {
        cublasLtMatrixLayout_t made = nullptr;
        cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns),
                                   ld);
        const std::int32_t order_of = order, batches = count;
        cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_ORDER, &order_of, sizeof order_of);
        cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches, sizeof batches);
        cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
        return made;
    }

    int rows, columns;
    cudaDataType type;
    cublasLtOrder_t order;
    std::int64_t ld, stride;
    std::vector<std::uint8_t> host, before;
    void* device;
};

double gelu(double x) {
    return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
}
double gelu_gradient(double x) {
    const double u = std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x), t = std::tanh(u);
    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * std::sqrt(2.0 / M_PI) * (1.0 + 3.0 * 0.044715 * x * x);
}

bool says_rows = false;

// How far a stored value may be from the true one: sums of floats of this magnitude, and the rounding of its type.
double allowed(const Case& c, double magnitude, double value, int terms, cudaDataType type) {
    const double sums = std::ldexp(magnitude, -24) * (terms + 16);
    const double inputs = c.compute == CUBLAS_COMPUTE_32F_FAST_TF32   ? std::ldexp(magnitude, -9)
                          : c.compute == CUBLAS_COMPUTE_32F_FAST_16F  ? std::ldexp(magnitude, -9)
                          : c.compute == CUBLAS_COMPUTE_32F_FAST_16BF ? std::ldexp(magnitude, -7)
                                                                      : 0.0;
    const double stored = std::ldexp(std::fabs(value), type == CUDA_R_32F ? -23 : type == CUDA_R_16F ? -11 : -8);
    return sums + inputs + stored + 1e-7;
}

struct Comparison {
    double worst = 0;  // error by what is allowed
    bool differs_from_fp32 = false;
    void add(double got, double wanted, double allowance) {
        const double share = std::fabs(got - wanted) / allowance;
        worst = std::isnan(worst) || share <= worst ? worst : share;  // NaN stays
    }
};

// In batch 0 the rows' sums of D's gradient, before D is rounded.
struct Expected {
    double value, magnitude;
};

bool has(const Case& c, unsigned bits) {
    return (static_cast<unsigned>(c.epilogue) & bits) != 0;
}

constexpr unsigned kBias = 4, kRelu = 2, kBgrad = 16, kGelu = 32, kDgelu = 64, kAux = 128, kBgradA = 256, kBgradB = 512;

template <class T>
void set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, T value) {
    cublasLtMatmulDescSetAttribute(desc, attribute, &value, sizeof value);
}

bool run(cublasLtHandle_t lt, const Memory& memory, const Case& c) {
    Matrices a(memory.at(0), c.op_a == CUBLAS_OP_N ? c.m : c.k, c.op_a == CUBLAS_OP_N ? c.k : c.m, c.in, c.order_a,
               c.gap, c.batch, c.same_a);
    Matrices b(memory.at(1), c.op_b == CUBLAS_OP_N ? c.k : c.n, c.op_b == CUBLAS_OP_N ? c.n : c.k, c.in, c.order_b,
               c.gap, c.batch, false);
    Matrices old(memory.at(2), c.m, c.n, c.out, c.order_d, c.gap + (c.in_place ? 0 : 3), c.batch, false);
    Matrices d(memory.at(3), c.m, c.n, c.out, c.order_d, c.gap, c.batch, false);
    const int inner = c.order_d == CUBLASLT_ORDER_COL ? c.m : c.n, aux_gap = (8 - inner % 8) % 8 + 8;
    Matrices aux(memory.at(4), c.m, c.n, c.out, c.order_d, aux_gap, c.batch, false);
    aux.stride = c.batch > 1 ? (aux.stride + 7) / 8 * 8 : aux.stride;
    Matrices bias(memory.at(5), has(c, kBgradB) ? c.n : c.m, 1, c.out, CUBLASLT_ORDER_COL, 0, c.batch, false);
    Matrices alphas(memory.at(6), c.m, 1, CUDA_R_32F, CUBLASLT_ORDER_COL, 0, 1, false),
        betas(memory.at(7), c.m, 1, CUDA_R_32F, CUBLASLT_ORDER_COL, 0, 1, false);
    unsigned seed = 1;
    for (Matrices* x : {&a, &b, &old, &d, &aux, &bias, &alphas, &betas}) { x->fill(seed++); }
    const bool beta_is_zero = c.pointers == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO ||
                              (c.beta == 0.0F && c.pointers != CUBLASLT_POINTER_MODE_DEVICE_VECTOR);
    if (beta_is_zero) {  // C is not read
        old.fill_with_nan();
        d.fill_with_nan();
    }

    cublasLtMatmulDesc_t desc = nullptr;
    cublasLtMatmulDescCreate(&desc, c.compute, CUDA_R_32F);
    set(desc, CUBLASLT_MATMUL_DESC_TRANSA, static_cast<std::int32_t>(c.op_a));
    set(desc, CUBLASLT_MATMUL_DESC_TRANSB, static_cast<std::int32_t>(c.op_b));
    set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(c.epilogue));
    set(desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, static_cast<std::int32_t>(c.pointers));
    if (has(c, kBias | kBgrad | kBgradA | kBgradB)) {
        set(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.device);
        set(desc, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, bias.stride);
        set(desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, static_cast<std::int32_t>(c.out));
    }
    if (has(c, kAux)) {
        set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux.device);
        set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, aux.ld);
        set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, aux.stride);
    }
    const cublasLtMatrixLayout_t layout_a = a.layout(c.batch), layout_b = b.layout(c.batch),
                                 layout_d = d.layout(c.batch);
    const cublasLtMatrixLayout_t layout_c = c.in_place ? d.layout(c.batch) : old.layout(c.batch);
    cublasLtMatmulPreference_t preference = nullptr;
    cublasLtMatmulPreferenceCreate(&preference);
    const std::uint64_t limit = Memory::kPlace;
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof limit);
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(lt, desc, layout_a, layout_b, layout_c, layout_d, preference, 1, &found, &count);
    const bool vectors = c.pointers >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR;
    const bool on_device = c.pointers != CUBLASLT_POINTER_MODE_HOST;
    const bool beta_on_device = on_device && c.pointers != CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST;
    if (on_device && !vectors) {
        cudaMemcpy(alphas.device, &c.alpha, sizeof c.alpha, cudaMemcpyHostToDevice);
        cudaMemcpy(betas.device, &c.beta, sizeof c.beta, cudaMemcpyHostToDevice);
    }
    if (status == CUBLAS_STATUS_SUCCESS) {
        const void* const alpha = on_device ? alphas.device : static_cast<const void*>(&c.alpha);
        const void* const beta = beta_on_device ? betas.device : static_cast<const void*>(&c.beta);
        status = cublasLtMatmul(lt, desc, alpha, a.device, layout_a, b.device, layout_b, beta,
                                c.in_place ? d.device : old.device, layout_c, d.device, layout_d, &found.algo,
                                memory.at(8), found.workspaceSize, nullptr);
    }
    cudaDeviceSynchronize();
    d.fetch();
    aux.fetch();
    bias.fetch();

    Comparison comparison;
    std::vector<bool> is_d(d.host.size() / bytes_of(c.out)), is_aux(aux.host.size() / bytes_of(c.out));
    for (int batch = 0; batch < c.batch && status == CUBLAS_STATUS_SUCCESS; batch++) {
        std::vector<Expected> sums(static_cast<std::size_t>(std::max(c.m, c.n)));
        for (int i = 0; i < c.m; i++) {
            for (int j = 0; j < c.n; j++) {
                double sum = 0, magnitude = 0;
                for (int l = 0; l < c.k; l++) {
                    const double x = c.op_a == CUBLAS_OP_N ? a.at(batch, i, l) : a.at(batch, l, i);
                    const double y = c.op_b == CUBLAS_OP_N ? b.at(batch, l, j) : b.at(batch, j, l);
                    sum += x * y;
                    magnitude += std::fabs(x * y);
                    if ((has(c, kBgradA) && j == 0) || (has(c, kBgradB) && i == 0)) {
                        Expected& of = sums[static_cast<std::size_t>(has(c, kBgradA) ? i : j)];
                        of.value += has(c, kBgradA) ? x : y;
                        of.magnitude += std::fabs(has(c, kBgradA) ? x : y);
                    }
                }
                const double alpha = vectors ? alphas.at(0, i, 0) : c.alpha;
                const double beta = c.pointers == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO ? 0.0
                                    : c.pointers == CUBLASLT_POINTER_MODE_DEVICE_VECTOR ? betas.at(0, i, 0)
                                                                                        : c.beta;
                const double was = c.in_place ? get(d.before, c.out, d.index(batch, i, j)) : old.at(batch, i, j);
                const double added_c = beta != 0 ? beta * was : 0.0;
                double value = alpha * sum + added_c;
                magnitude = std::fabs(alpha) * magnitude + std::fabs(added_c);
                if (has(c, kBias)) {
                    const double added = get(bias.before, c.out, bias.index(batch, i, 0));
                    value += added;
                    magnitude += std::fabs(added);
                }
                is_d[d.index(batch, i, j)] = true;
                is_aux[aux.index(batch, i, j)] = has(c, kAux) && !has(c, kDgelu);
                if (is_aux[aux.index(batch, i, j)]) {
                    comparison.add(aux.at(batch, i, j), value, allowed(c, magnitude, value, c.k, c.out));
                }
                if (has(c, kGelu)) {
                    value = gelu(value);
                } else if (has(c, kRelu)) {
                    value = std::max(value, 0.0);
                } else if (has(c, kDgelu)) {
                    value *= gelu_gradient(get(aux.before, c.out, aux.index(batch, i, j)));
                }
                magnitude *= has(c, kGelu | kDgelu) ? 2.0 : 1.0;  // GELU's derivative is at most 1.13
                comparison.add(d.at(batch, i, j), value, allowed(c, magnitude, value, c.k, c.out));
                const double of_fp32 = std::ldexp(magnitude, -24) * (c.k + 16) + std::ldexp(std::fabs(value), -23);
                comparison.differs_from_fp32 |= std::fabs(d.at(batch, i, j) - value) > of_fp32;
                if (has(c, kBgrad)) {
                    sums[static_cast<std::size_t>(i)].value += value;
                    sums[static_cast<std::size_t>(i)].magnitude += magnitude;
                }
            }
        }
        for (int i = 0; i < bias.rows && has(c, kBgrad | kBgradA | kBgradB); i++) {
            const Expected& of = sums[static_cast<std::size_t>(i)];
            comparison.add(bias.at(batch, i, 0), of.value, allowed(c, of.magnitude, of.value, c.k + c.n, c.out));
        }
    }
    bool kept = true;  // what lies between columns, and what is only read
    for (std::size_t i = 0; i < is_d.size(); i++) {
        kept = kept && (is_d[i] || std::memcmp(&d.host[i * bytes_of(c.out)], &d.before[i * bytes_of(c.out)],
                                               bytes_of(c.out)) == 0);
    }
    for (std::size_t i = 0; i < is_aux.size(); i++) {
        kept = kept && (is_aux[i] || std::memcmp(&aux.host[i * bytes_of(c.out)], &aux.before[i * bytes_of(c.out)],
                                                 bytes_of(c.out)) == 0);
    }
    const bool rounds = c.compute != CUBLAS_COMPUTE_32F && c.compute != CUBLAS_COMPUTE_32F_PEDANTIC;
    const bool right = status == CUBLAS_STATUS_SUCCESS && comparison.worst <= 1.0 && kept &&
                       (c.out != CUDA_R_32F || comparison.differs_from_fp32 == rounds);
    if (says_rows || !right) {
        std::printf("%s: %s, %s\n", c.name.c_str(), cublasLtGetStatusName(status),
                    right  ? "right"
                    : kept ? "wrong"
                           : "written beside the matrix");
    }
    cublasLtMatmulPreferenceDestroy(preference);
    for (const cublasLtMatrixLayout_t layout : {layout_a, layout_b, layout_c, layout_d}) {
        cublasLtMatrixLayoutDestroy(layout);
    }
    cublasLtMatmulDescDestroy(desc);
    return right;
}

struct NamedEpilogue {
    const char* name;
    cublasLtEpilogue_t epilogue;
};
constexpr NamedEpilogue kEpilogues[] = {
    {"DEFAULT", CUBLASLT_EPILOGUE_DEFAULT},   {"BIAS", CUBLASLT_EPILOGUE_BIAS},
    {"RELU", CUBLASLT_EPILOGUE_RELU},         {"RELU_BIAS", CUBLASLT_EPILOGUE_RELU_BIAS},
    {"GELU", CUBLASLT_EPILOGUE_GELU},         {"GELU_BIAS", CUBLASLT_EPILOGUE_GELU_BIAS},
    {"GELU_AUX", CUBLASLT_EPILOGUE_GELU_AUX}, {"GELU_AUX_BIAS", CUBLASLT_EPILOGUE_GELU_AUX_BIAS},
    {"DGELU", CUBLASLT_EPILOGUE_DGELU},       {"DGELU_BGRAD", CUBLASLT_EPILOGUE_DGELU_BGRAD},
    {"BGRADA", CUBLASLT_EPILOGUE_BGRADA},     {"BGRADB", CUBLASLT_EPILOGUE_BGRADB},
};

std::vector<Case> cases() {
    std::vector<Case> all;
    // Operations and orders, with each epilogue.
    for (const NamedEpilogue& e : kEpilogues) {
        for (int bits = 0; bits < 32; bits++) {
            const auto op = [&](int bit) { return (bits >> bit & 1) != 0 ? CUBLAS_OP_T : CUBLAS_OP_N; };
            const auto order = [&](int bit) {
                return (bits >> bit & 1) != 0 ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
            };
            Case c{.name = std::string(e.name) + " ops and orders " + std::to_string(bits), .m = 13, .n = 6, .k = 9};
            c.op_a = op(0);
            c.op_b = op(1);
            c.order_a = order(2);
            c.order_b = order(3);
            c.order_d = order(4);
            c.epilogue = e.epilogue;
            c.gap = bits % 3;
            all.push_back(c);
        }
    }
    // Types and compute types, with each epilogue, in batches.
    struct Types {
        const char* name;
        cudaDataType in, out;
        cublasComputeType_t compute;
    };
    for (const Types& types : {Types{"fp32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC},
                               Types{"TF32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
                               Types{"fp32 as fp16", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16F},
                               Types{"fp32 as bf16", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16BF},
                               Types{"bf16", CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F},
                               Types{"fp16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F},
                               Types{"bf16 to fp32", CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
                               Types{"fp16 to fp32", CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F}}) {
        for (const NamedEpilogue& e : kEpilogues) {
            for (const int batch : {1, 3}) {
                Case c{.name = std::string(types.name) + " " + e.name + " batch " + std::to_string(batch),
                       .op_a = CUBLAS_OP_T,
                       .in = types.in,
                       .out = types.out,
                       .compute = types.compute,
                       .epilogue = e.epilogue,
                       .batch = batch};
                c.gap = 3;
                all.push_back(c);
            }
        }
    }
    // alpha and beta, C beside D and in its place; one A for a batch.
    for (const float alpha : {0.0F, 1.0F, -0.75F}) {
        for (const float beta : {0.0F, 1.0F, 0.5F}) {
            for (const bool in_place : {false, true}) {
                Case c{.name = "alpha " + std::to_string(alpha) + " beta " + std::to_string(beta) +
                               (in_place ? " in place" : ""),
                       .epilogue = CUBLASLT_EPILOGUE_BIAS,
                       .alpha = alpha,
                       .beta = beta,
                       .batch = 2,
                       .same_a = true,
                       .in_place = in_place};
                all.push_back(c);
                c.name += " bf16, row-major";
                c.in = c.out = CUDA_R_16BF;
                c.order_d = CUBLASLT_ORDER_ROW;
                all.push_back(c);
            }
        }
    }
    // Where alpha and beta are.
    for (const cublasLtPointerMode_t mode :
         {CUBLASLT_POINTER_MODE_DEVICE, CUBLASLT_POINTER_MODE_DEVICE_VECTOR,
          CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO, CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST}) {
        for (const cublasLtOrder_t order : {CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW}) {
            Case c{.name = "pointer mode " + std::to_string(mode) + (order == CUBLASLT_ORDER_ROW ? " row-major" : ""),
                   .epilogue = CUBLASLT_EPILOGUE_GELU_BIAS,
                   .alpha = 0.5F,
                   .beta = 0.25F};
            c.order_d = order;
            c.pointers = mode;
            all.push_back(c);
            c.name += " in place";
            c.in_place = true;
            all.push_back(c);
        }
    }
    // Sizes: one row, one column, one product; a k that is split.
    struct Size {
        int m, n, k;
    };
    for (const Size& size : {Size{1, 1, 1}, Size{1, 64, 5}, Size{64, 1, 5}, Size{16, 16, 1}, Size{130, 3, 200}}) {
        Case c{.name = std::to_string(size.m) + " x " + std::to_string(size.n) + " x " + std::to_string(size.k),
               .m = size.m,
               .n = size.n,
               .k = size.k,
               .epilogue = CUBLASLT_EPILOGUE_GELU_AUX_BIAS};
        all.push_back(c);
    }
    // No products: what is left is beta C and the bias.
    for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
        Case c{.name = op == CUBLAS_OP_N ? "k 0" : "k 0, A transposed",
               .m = 8,
               .n = 3,
               .k = 0,
               .op_a = op,
               .epilogue = CUBLASLT_EPILOGUE_BIAS,
               .beta = 0.5F};
        all.push_back(c);
    }
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    says_rows = argc > 1 && std::string(argv[1]) == "--rows";
    cublasLtHandle_t lt = nullptr;
    if (cublasLtCreate(&lt) != CUBLAS_STATUS_SUCCESS) {
        std::fputs("lt_products: cublasLtCreate failed\n", stderr);
        return 2;
    }
    const std::vector<Case> all = cases();
    std::size_t wrong = 0;
    {
        const Memory memory;
        for (const Case& c : all) { wrong += run(lt, memory, c) ? 0U : 1U; }
    }
    cublasLtDestroy(lt);
    std::fprintf(stderr, "lt_products: %zu of %zu are not as the CPU device's should be\n", wrong, all.size());
    return wrong == 0 ? 0 : 1;
}
