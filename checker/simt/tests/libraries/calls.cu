// SPDX-License-Identifier: MIT
//
// Calls of cuBLAS, each against a plain loop in float64: all transposes, odd sizes, gaps between columns, factors, types.
// And calls that it refuses, with their statuses. One line a call; simtcc compiles it for the CPU device, nvcc for a GPU,
// and `make gpu-report PART=libs` compares the two. --rows prints each call, not only those that are wrong; --tf32 tries
// only TF32.
//
// A product of rounded inputs is compared with the products of inputs rounded in each way that the library may choose:
// the line names the one that it fits. What a card gives may differ there, and then is not wrong (LIBRARIES.md).
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

void require(bool right, const char* what) {
    if (!right) {
        std::fprintf(stderr, "calls: %s failed\n", what);
        std::exit(2);
    }
}

// ---- numbers of each type ---------------------------------------------------------------------------------------------

struct Type {
    const char* name;
    cudaDataType id;
    std::size_t bytes;
    double half_step;  // half the distance of 1 to the next larger number: the error of rounding, relative
};
const Type kFloat{"fp32", CUDA_R_32F, 4, 0x1p-24}, kDouble{"fp64", CUDA_R_64F, 8, 0x1p-53},
    kBfloat{"bf16", CUDA_R_16BF, 2, 0x1p-8}, kHalf{"fp16", CUDA_R_16F, 2, 0x1p-11};

template <class T>
void put(char* at, T value) {
    std::memcpy(at, &value, sizeof value);
}
template <class T>
T get(const char* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

void store(const Type& type, char* at, double value) {
    switch (type.id) {
        case CUDA_R_64F:
            return put(at, value);
        case CUDA_R_16BF:
            return put(at, __float2bfloat16(static_cast<float>(value)));
        case CUDA_R_16F:
            return put(at, __float2half(static_cast<float>(value)));
        default:
            return put(at, static_cast<float>(value));
    }
}

double load(const Type& type, const char* at) {
    switch (type.id) {
        case CUDA_R_64F:
            return get<double>(at);
        case CUDA_R_16BF:
            return static_cast<double>(__bfloat162float(get<__nv_bfloat16>(at)));
        case CUDA_R_16F:
            return static_cast<double>(__half2float(get<__half>(at)));
        default:
            return static_cast<double>(get<float>(at));
    }
}

// The ways in which inputs of 32 bits may be rounded.
enum class Rounding { none, tf32, tf32_truncated, bf16, fp16 };
constexpr Rounding kRoundings[] = {Rounding::none, Rounding::tf32, Rounding::tf32_truncated, Rounding::bf16,
                                   Rounding::fp16};
const char* name_of(Rounding rounding) {
    constexpr const char* kNames[] = {"as they are", "to TF32, nearest", "to TF32, truncated", "to bf16", "to fp16"};
    return kNames[static_cast<int>(rounding)];
}

double rounded(double value, Rounding rounding) {
    const auto single = static_cast<float>(value);
    std::uint32_t bits;
    std::memcpy(&bits, &single, sizeof bits);
    switch (rounding) {
        case Rounding::none:
            return value;
        case Rounding::tf32:
            bits = (bits + 0xfffU + (bits >> 13 & 1U)) & ~0x1fffU;
            break;
        case Rounding::tf32_truncated:
            bits &= ~0x1fffU;
            break;
        case Rounding::bf16:
            return static_cast<double>(__bfloat162float(__float2bfloat16(single)));
        case Rounding::fp16:
            return static_cast<double>(__half2float(__float2half(single)));
    }
    float result;
    std::memcpy(&result, &bits, sizeof result);
    return static_cast<double>(result);
}

// ---- matrices ----------------------------------------------------------------------------------------------------------

std::uint64_t random_state = 1;
double random_number() {  // in [-1, 1), with more bits than any type here has but fp64
    random_state = random_state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(static_cast<std::int64_t>(random_state) >> 24) * 0x1p-39;
}

// Some matrices of the device's memory, column-major at a stride, with gaps; and their bytes on the host.
class Matrices {
  public:
    Matrices(const Type& type, long rows, long columns, long gap, long count, bool nan)
        : type_(type), rows_(rows), columns_(columns), ld_(rows + gap), count_(count) {
        bytes_.resize(static_cast<std::size_t>(stride() * count) * type.bytes);
        for (long i = 0; i < stride() * count; i++) {
            const bool in_gap = i % ld_ >= rows;
            store(type, &bytes_[static_cast<std::size_t>(i) * type.bytes],
                  in_gap || nan ? std::nan("") : random_number());
        }
        require(cudaMalloc(&device_, bytes_.size()) == cudaSuccess, "cudaMalloc");
        require(cudaMemcpy(device_, bytes_.data(), bytes_.size(), cudaMemcpyHostToDevice) == cudaSuccess, "cudaMemcpy");
    }
    ~Matrices() { cudaFree(device_); }
    Matrices(const Matrices&) = delete;
    Matrices& operator=(const Matrices&) = delete;

    int ld() const { return static_cast<int>(ld_); }
    long stride() const { return ld_ * columns_; }
    char* device(long index = 0) const {
        return static_cast<char*>(device_) + static_cast<std::size_t>(index * stride()) * type_.bytes;
    }
    double at(long index, long row, long column) const {
        return load(type_, &bytes_[static_cast<std::size_t>(index * stride() + column * ld_ + row) * type_.bytes]);
    }
    // The bytes that the device has now, and whether those in the gaps are the old ones.
    bool fetch() {
        const std::vector<char> before = bytes_;
        require(cudaMemcpy(bytes_.data(), device_, bytes_.size(), cudaMemcpyDeviceToHost) == cudaSuccess, "cudaMemcpy");
        for (long i = 0; i < stride() * count_; i++) {
            const std::size_t byte = static_cast<std::size_t>(i) * type_.bytes;
            if (i % ld_ >= rows_ && std::memcmp(&before[byte], &bytes_[byte], type_.bytes) != 0) {
                return false;
            }
        }
        return true;
    }

  private:
    Type type_;
    long rows_, columns_, ld_, count_;
    void* device_ = nullptr;
    std::vector<char> bytes_;
};

int calls = 0, wrong = 0;
bool says_rows = false;

void row(const std::string& what, cublasStatus_t status, const std::string& verdict, bool right) {
    calls++;
    wrong += right ? 0 : 1;
    if (says_rows || !right) {
        std::printf("%s: %s%s%s\n", what.c_str(), cublasGetStatusName(status), verdict.empty() ? "" : ", ",
                    verdict.c_str());
    }
}

// ---- products ----------------------------------------------------------------------------------------------------------

struct Size {
    int m, n, k;
};
struct Factors {
    double alpha, beta;
};

// A form of the function: its types, and how the inputs are expected to be rounded.
struct Form {
    const char* function;
    Type inputs, output;
    cublasComputeType_t compute;
    cublasMath_t math;
    Rounding rounding;
    int batch = 1;
    bool one_a = false;  // all of the batch share A: stride 0
    const char* note = "";
};

cublasStatus_t call(cublasHandle_t cublas, const Form& form, cublasOperation_t ta, cublasOperation_t tb, Size s,
                    Factors factors, const Matrices& a, const Matrices& b, const Matrices& c) {
    const float alpha = static_cast<float>(factors.alpha), beta = static_cast<float>(factors.beta);
    const bool is_double = form.inputs.id == CUDA_R_64F;
    const void* const alpha_of_type = is_double ? static_cast<const void*>(&factors.alpha) : &alpha;
    const void* const beta_of_type = is_double ? static_cast<const void*>(&factors.beta) : &beta;
    const auto floats = [](const Matrices& x) { return reinterpret_cast<float*>(x.device()); };
    const auto doubles = [](const Matrices& x) { return reinterpret_cast<double*>(x.device()); };
    const std::string name = form.function;
    const long long stride_a = form.one_a ? 0 : a.stride();
    if (name == "cublasSgemm") {
        return cublasSgemm(cublas, ta, tb, s.m, s.n, s.k, &alpha, floats(a), a.ld(), floats(b), b.ld(), &beta,
                           floats(c), c.ld());
    }
    if (name == "cublasDgemm") {
        return cublasDgemm(cublas, ta, tb, s.m, s.n, s.k, &factors.alpha, doubles(a), a.ld(), doubles(b), b.ld(),
                           &factors.beta, doubles(c), c.ld());
    }
    if (name == "cublasGemmEx") {
        return cublasGemmEx(cublas, ta, tb, s.m, s.n, s.k, alpha_of_type, a.device(), form.inputs.id, a.ld(),
                            b.device(), form.inputs.id, b.ld(), beta_of_type, c.device(), form.output.id, c.ld(),
                            form.compute, CUBLAS_GEMM_DEFAULT);
    }
    if (name == "cublasSgemmStridedBatched") {
        return cublasSgemmStridedBatched(cublas, ta, tb, s.m, s.n, s.k, &alpha, floats(a), a.ld(), stride_a, floats(b),
                                         b.ld(), b.stride(), &beta, floats(c), c.ld(), c.stride(), form.batch);
    }
    if (name == "cublasGemmStridedBatchedEx") {
        return cublasGemmStridedBatchedEx(cublas, ta, tb, s.m, s.n, s.k, alpha_of_type, a.device(), form.inputs.id,
                                          a.ld(), stride_a, b.device(), form.inputs.id, b.ld(), b.stride(),
                                          beta_of_type, c.device(), form.output.id, c.ld(), c.stride(), form.batch,
                                          form.compute, CUBLAS_GEMM_DEFAULT);
    }
    std::vector<void*> pointers;
    for (const Matrices* x : {&a, &b, &c}) {
        for (int i = 0; i < form.batch; i++) { pointers.push_back(x->device(x == &a && form.one_a ? 0 : i)); }
    }
    void** arrays = nullptr;
    require(cudaMalloc(&arrays, pointers.size() * sizeof(void*)) == cudaSuccess, "cudaMalloc");
    cudaMemcpy(arrays, pointers.data(), pointers.size() * sizeof(void*), cudaMemcpyHostToDevice);
    void **const as = arrays, **const bs = arrays + form.batch, **const cs = arrays + 2 * form.batch;
    const cublasStatus_t status =
        name == "cublasSgemmBatched"
            ? cublasSgemmBatched(cublas, ta, tb, s.m, s.n, s.k, &alpha, reinterpret_cast<const float* const*>(as),
                                 a.ld(), reinterpret_cast<const float* const*>(bs), b.ld(), &beta,
                                 reinterpret_cast<float* const*>(cs), c.ld(), form.batch)
            : cublasGemmBatchedEx(cublas, ta, tb, s.m, s.n, s.k, alpha_of_type, as, form.inputs.id, a.ld(), bs,
                                  form.inputs.id, b.ld(), beta_of_type, cs, form.output.id, c.ld(), form.batch,
                                  form.compute, CUBLAS_GEMM_DEFAULT);
    cudaDeviceSynchronize();
    cudaFree(arrays);
    return status;
}

// Whether all of C is the product of inputs that are rounded so, to the accuracy of sums in fp32 (in fp64 for fp64).
bool fits(const Form& form, Rounding rounding, bool ta, bool tb, Size s, Factors factors, const Matrices& a,
          const Matrices& b, const std::vector<double>& old_c, const Matrices& c) {
    const double unit = form.inputs.id == CUDA_R_64F ? 0x1p-53 : 0x1p-24;
    for (int batch = 0; batch < form.batch; batch++) {
        for (int i = 0; i < s.m; i++) {
            for (int j = 0; j < s.n; j++) {
                double sum = 0, size = 0;
                for (int l = 0; l < s.k; l++) {
                    const int of_a = form.one_a ? 0 : batch;
                    const double product = rounded(ta ? a.at(of_a, l, i) : a.at(of_a, i, l), rounding) *
                                           rounded(tb ? b.at(batch, j, l) : b.at(batch, l, j), rounding);
                    sum += product;
                    size += std::abs(product);
                }
                const double added =
                    factors.beta == 0 ? 0 : factors.beta * old_c[static_cast<std::size_t>((batch * s.m + i) * s.n + j)];
                const double right = factors.alpha * sum + added;
                const double bound = (s.k + 4) * unit * (std::abs(factors.alpha) * size + std::abs(added)) +
                                     form.output.half_step * std::abs(right) * 1.01;
                if (!(std::abs(c.at(batch, i, j) - right) <= bound)) {
                    return false;
                }
            }
        }
    }
    return true;
}

void try_product(cublasHandle_t cublas, const Form& form, cublasOperation_t ta, cublasOperation_t tb, Size s, int gap,
                 Factors factors) {
    const bool at = ta != CUBLAS_OP_N, bt = tb != CUBLAS_OP_N;
    Matrices a(form.inputs, at ? s.k : s.m, at ? s.m : s.k, gap, form.batch, false);
    Matrices b(form.inputs, bt ? s.n : s.k, bt ? s.k : s.n, gap, form.batch, false);
    Matrices c(form.output, s.m, s.n, gap, form.batch, factors.beta == 0);
    std::vector<double> old_c;
    for (int batch = 0; batch < form.batch; batch++) {
        for (int i = 0; i < s.m; i++) {
            for (int j = 0; j < s.n; j++) { old_c.push_back(c.at(batch, i, j)); }
        }
    }
    cublasSetMathMode(cublas, form.math);
    const cublasStatus_t status = call(cublas, form, ta, tb, s, factors, a, b, c);
    const bool gaps_are_whole = c.fetch();
    std::string found = "wrong";
    bool right = false;
    for (const Rounding rounding : kRoundings) {
        const bool possible = rounding == Rounding::none || form.inputs.id == CUDA_R_32F;
        if (possible && fits(form, rounding, at, bt, s, factors, a, b, old_c, c)) {
            right = right || rounding == form.rounding;
            found = found == "wrong" ? name_of(rounding) : found + " or " + name_of(rounding);
        }
    }
    found += gaps_are_whole ? "" : ", and the gaps of C have changed";
    char text[256];
    std::snprintf(text, sizeof text, "%s %s%s, compute %d, math %d, %c%c %d x %d x %d, gap %d, alpha %g, beta %g%s",
                  form.function, form.inputs.name, form.output.name == form.inputs.name ? "" : " to fp32",
                  static_cast<int>(form.compute), static_cast<int>(form.math), "NTC"[ta], "NTC"[tb], s.m, s.n, s.k, gap,
                  factors.alpha, factors.beta, form.note);
    row(text, status, "inputs " + found, status == CUBLAS_STATUS_SUCCESS && right && gaps_are_whole);
}

void try_products(cublasHandle_t cublas, bool only_tf32) {
    const char* truncates = std::getenv("SIMT_TF32");
    const Rounding tf32 =
        truncates != nullptr && std::strcmp(truncates, "truncate") == 0 ? Rounding::tf32_truncated : Rounding::tf32;
    const char* forbids = std::getenv("NVIDIA_TF32_OVERRIDE");
    const bool forbidden = forbids != nullptr && std::strcmp(forbids, "0") == 0;
    const Rounding none = Rounding::none;
    const cublasComputeType_t fp32 = CUBLAS_COMPUTE_32F, fp64 = CUBLAS_COMPUTE_64F;
    const cublasMath_t plain = CUBLAS_DEFAULT_MATH, tf32_math = CUBLAS_TF32_TENSOR_OP_MATH;
    const Form forms[] = {
        {"cublasSgemm", kFloat, kFloat, fp32, plain, none},
        {"cublasSgemm", kFloat, kFloat, fp32, tf32_math, tf32},
        {"cublasSgemm", kFloat, kFloat, fp32, CUBLAS_PEDANTIC_MATH, none},
        {"cublasDgemm", kDouble, kDouble, fp64, plain, none},
        {"cublasDgemm", kDouble, kDouble, fp64, tf32_math, none},
        {"cublasGemmEx", kFloat, kFloat, fp32, plain, none},
        {"cublasGemmEx", kFloat, kFloat, fp32, tf32_math, tf32},
        {"cublasGemmEx", kFloat, kFloat, CUBLAS_COMPUTE_32F_PEDANTIC, tf32_math, none},
        {"cublasGemmEx", kFloat, kFloat, CUBLAS_COMPUTE_32F_FAST_TF32, plain, tf32},
        {"cublasGemmEx", kFloat, kFloat, CUBLAS_COMPUTE_32F_FAST_16BF, plain, Rounding::bf16},
        {"cublasGemmEx", kFloat, kFloat, CUBLAS_COMPUTE_32F_FAST_16F, plain, Rounding::fp16},
        {"cublasGemmEx", kBfloat, kBfloat, fp32, plain, none},
        {"cublasGemmEx", kBfloat, kFloat, fp32, plain, none},
        {"cublasGemmEx", kHalf, kHalf, fp32, plain, none},
        {"cublasGemmEx", kHalf, kFloat, fp32, plain, none},
        {"cublasGemmEx", kDouble, kDouble, fp64, plain, none},
        {"cublasSgemmStridedBatched", kFloat, kFloat, fp32, plain, none, 3},
        {"cublasSgemmStridedBatched", kFloat, kFloat, fp32, plain, none, 3, true, ", one A"},
        {"cublasSgemmStridedBatched", kFloat, kFloat, fp32, tf32_math, tf32, 3},
        {"cublasGemmStridedBatchedEx", kBfloat, kBfloat, fp32, plain, none, 2},
        {"cublasSgemmBatched", kFloat, kFloat, fp32, plain, none, 3},
        {"cublasSgemmBatched", kFloat, kFloat, fp32, plain, none, 3, true, ", one A"},
        {"cublasGemmBatchedEx", kHalf, kFloat, fp32, plain, none, 2},
    };
    std::vector<Form> wanted;
    for (const Form& form : forms) {
        if (!only_tf32 || form.rounding == tf32) {
            wanted.push_back(form);
            wanted.back().rounding = form.rounding == tf32 && forbidden ? none : form.rounding;
        }
    }
    for (const Form& form : wanted) {
        for (const cublasOperation_t ta : {CUBLAS_OP_N, CUBLAS_OP_T}) {
            for (const cublasOperation_t tb : {CUBLAS_OP_N, CUBLAS_OP_T}) {
                for (const Size size : {Size{1, 1, 1}, Size{7, 5, 3}, Size{17, 9, 33}}) {
                    for (const int gap : {0, 3}) {
                        for (const Factors factors :
                             {Factors{1, 0}, Factors{1, 1}, Factors{-0.5, 2}, Factors{0, 0.75}, Factors{0, 0}}) {
                            try_product(cublas, form, ta, tb, size, gap, factors);
                        }
                    }
                }
            }
        }
    }
    // The conjugate transpose of real numbers is the transpose; and more rows, or columns, than are converted at once.
    for (const Form& form : wanted) {
        try_product(cublas, form, CUBLAS_OP_C, CUBLAS_OP_C, {7, 5, 3}, 1, {1, 0});
        if (form.batch == 1) {
            try_product(cublas, form, CUBLAS_OP_T, CUBLAS_OP_N, {210, 3, 1600}, 1, {1, 0});
            try_product(cublas, form, CUBLAS_OP_N, CUBLAS_OP_T, {3, 210, 1600}, 1, {1, 1});
            try_product(cublas, form, CUBLAS_OP_N, CUBLAS_OP_N, {5, 7, 0}, 1, {1, 2});
        }
    }
    cublasSetMathMode(cublas, CUBLAS_DEFAULT_MATH);
}

// ---- vectors -----------------------------------------------------------------------------------------------------------

bool is_near(double got, double right, double size, int terms) {
    return std::abs(got - right) <= (terms + 4) * 0x1p-24 * size;
}

// The i-th of n numbers, `increment` apart: with a negative increment they are counted from the last in memory.
long place(long i, long n, long increment) {
    return increment < 0 ? (n - 1 - i) * -increment : i * increment;
}

void try_vectors(cublasHandle_t cublas) {
    char text[128];
    for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
        for (const int incx : {1, 3, -2}) {
            for (const int incy : {1, 2, -1}) {
                for (const Factors factors : {Factors{1, 0}, Factors{-0.5, 2}, Factors{0, 0}}) {
                    const int m = 7, n = 5, in = op == CUBLAS_OP_N ? n : m, out = op == CUBLAS_OP_N ? m : n;
                    const float alpha = static_cast<float>(factors.alpha), beta = static_cast<float>(factors.beta);
                    const Matrices a(kFloat, m, n, 2, 1, false), x(kFloat, in * std::abs(incx), 1, 0, 1, false);
                    Matrices y(kFloat, out * std::abs(incy), 1, 0, 1, factors.beta == 0);
                    std::vector<double> old_y;
                    for (int i = 0; i < out; i++) { old_y.push_back(y.at(0, place(i, out, incy), 0)); }
                    const cublasStatus_t status = cublasSgemv(
                        cublas, op, m, n, &alpha, reinterpret_cast<float*>(a.device()), a.ld(),
                        reinterpret_cast<float*>(x.device()), incx, &beta, reinterpret_cast<float*>(y.device()), incy);
                    y.fetch();
                    bool right = status == CUBLAS_STATUS_SUCCESS;
                    for (int i = 0; i < out; i++) {
                        double sum = 0, size = 0;
                        for (int j = 0; j < in; j++) {
                            const double term =
                                (op == CUBLAS_OP_N ? a.at(0, i, j) : a.at(0, j, i)) * x.at(0, place(j, in, incx), 0);
                            sum += term;
                            size += std::abs(term);
                        }
                        const double old = factors.beta == 0 ? 0 : factors.beta * old_y[static_cast<std::size_t>(i)];
                        right = right && is_near(y.at(0, place(i, out, incy), 0), factors.alpha * sum + old,
                                                 size + std::abs(old), in);
                    }
                    std::snprintf(text, sizeof text, "cublasSgemv %c, incx %d, incy %d, alpha %g, beta %g", "NT"[op],
                                  incx, incy, factors.alpha, factors.beta);
                    row(text, status, right ? "right" : "wrong", right);
                }
            }
        }
    }
    for (const cublasOperation_t ta : {CUBLAS_OP_N, CUBLAS_OP_T}) {
        for (const cublasOperation_t tb : {CUBLAS_OP_N, CUBLAS_OP_T}) {
            for (const Factors factors :
                 {Factors{1, 1}, Factors{-0.5, 2}, Factors{0, 2}, Factors{1, 0}, Factors{0, 0}}) {
                const int m = 6, n = 9;
                const float alpha = static_cast<float>(factors.alpha), beta = static_cast<float>(factors.beta);
                const Matrices a(kFloat, ta == CUBLAS_OP_N ? m : n, ta == CUBLAS_OP_N ? n : m, 1, 1,
                                 factors.alpha == 0);
                const Matrices b(kFloat, tb == CUBLAS_OP_N ? m : n, tb == CUBLAS_OP_N ? n : m, 2, 1, factors.beta == 0);
                Matrices c(kFloat, m, n, 3, 1, true);
                const cublasStatus_t status = cublasSgeam(
                    cublas, ta, tb, m, n, &alpha, reinterpret_cast<float*>(a.device()), a.ld(), &beta,
                    reinterpret_cast<float*>(b.device()), b.ld(), reinterpret_cast<float*>(c.device()), c.ld());
                bool right = c.fetch() && status == CUBLAS_STATUS_SUCCESS;
                for (int i = 0; i < m; i++) {
                    for (int j = 0; j < n; j++) {
                        const double of_a =
                            alpha == 0 ? 0 : factors.alpha * (ta == CUBLAS_OP_N ? a.at(0, i, j) : a.at(0, j, i));
                        const double of_b =
                            beta == 0 ? 0 : factors.beta * (tb == CUBLAS_OP_N ? b.at(0, i, j) : b.at(0, j, i));
                        right = right && is_near(c.at(0, i, j), of_a + of_b, std::abs(of_a) + std::abs(of_b), 1);
                    }
                }
                std::snprintf(text, sizeof text, "cublasSgeam %c%c, alpha %g, beta %g", "NT"[ta], "NT"[tb],
                              factors.alpha, factors.beta);
                row(text, status, right ? "right" : "wrong", right);
            }
        }
    }
    for (const int incx : {1, 2, -3}) {
        for (const int incy : {1, -2}) {
            const int n = 11;
            const float alpha = -1.5F;
            const Matrices x(kFloat, n * std::abs(incx), 1, 0, 1, false);
            Matrices y(kFloat, n * std::abs(incy), 1, 0, 1, false);
            std::vector<double> old_y;
            for (int i = 0; i < n; i++) { old_y.push_back(y.at(0, place(i, n, incy), 0)); }
            const cublasStatus_t status = cublasSaxpy(cublas, n, &alpha, reinterpret_cast<float*>(x.device()), incx,
                                                      reinterpret_cast<float*>(y.device()), incy);
            y.fetch();
            bool right = status == CUBLAS_STATUS_SUCCESS;
            for (int i = 0; i < n; i++) {
                const double added = -1.5 * x.at(0, place(i, n, incx), 0), old = old_y[static_cast<std::size_t>(i)];
                right =
                    right && is_near(y.at(0, place(i, n, incy), 0), added + old, std::abs(added) + std::abs(old), 1);
            }
            std::snprintf(text, sizeof text, "cublasSaxpy incx %d, incy %d", incx, incy);
            row(text, status, right ? "right" : "wrong", right);
        }
    }
    for (const int incx : {1, 3, 0, -1}) {
        const int n = 100;
        const Matrices x(kFloat, n * std::max(1, std::abs(incx)), 1, 0, 1, false);
        float norm = -1;
        const cublasStatus_t status = cublasSnrm2(cublas, n, reinterpret_cast<float*>(x.device()), incx, &norm);
        double squares = 0;
        for (int i = 0; i < n && incx > 0; i++) {
            squares += x.at(0, place(i, n, incx), 0) * x.at(0, place(i, n, incx), 0);
        }
        const bool right = is_near(static_cast<double>(norm), std::sqrt(squares), std::sqrt(squares), n);
        std::snprintf(text, sizeof text, "cublasSnrm2 incx %d", incx);
        row(text, status, right ? "right" : "wrong", right && status == CUBLAS_STATUS_SUCCESS);
    }
}

// ---- statuses ----------------------------------------------------------------------------------------------------------

void expect(const char* what, cublasStatus_t status, cublasStatus_t expected) {
    row(what, status, "", status == expected);
}

void try_statuses(cublasHandle_t cublas) {
    constexpr cublasStatus_t kFine = CUBLAS_STATUS_SUCCESS, kInvalid = CUBLAS_STATUS_INVALID_VALUE,
                             kUnsupported = CUBLAS_STATUS_NOT_SUPPORTED, kNoHandle = CUBLAS_STATUS_NOT_INITIALIZED;
    constexpr cublasOperation_t kN = CUBLAS_OP_N, kT = CUBLAS_OP_T;
    const Matrices matrices(kFloat, 64, 64, 0, 3, false);
    float *const a = reinterpret_cast<float*>(matrices.device(0)),
                 *const b = reinterpret_cast<float*>(matrices.device(1)),
                 *const c = reinterpret_cast<float*>(matrices.device(2));
    const float one = 1;
    const auto sgemm = [&](cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, int lda, int ldb, int ldc) {
        return cublasSgemm(cublas, ta, tb, m, n, k, &one, a, lda, b, ldb, &one, c, ldc);
    };
    expect("a handle that is null", cublasSgemm(nullptr, kN, kN, 1, 1, 1, &one, a, 1, b, 1, &one, c, 1), kNoHandle);
    expect("m = -1", sgemm(kN, kN, -1, 3, 3, 4, 4, 4), kInvalid);
    expect("n = -1", sgemm(kN, kN, 3, -1, 3, 4, 4, 4), kInvalid);
    expect("k = -1", sgemm(kN, kN, 3, 3, -1, 4, 4, 4), kInvalid);
    expect("m = 0", sgemm(kN, kN, 0, 3, 3, 4, 4, 4), kFine);
    expect("m = 0, lda = 0", sgemm(kN, kN, 0, 3, 3, 0, 4, 4), kInvalid);
    expect("lda < m", sgemm(kN, kN, 5, 3, 3, 4, 4, 5), kInvalid);
    expect("lda < k, A transposed", sgemm(kT, kN, 3, 3, 5, 4, 5, 4), kInvalid);
    expect("lda < m is fine where A is transposed", sgemm(kT, kN, 5, 3, 3, 4, 4, 5), kFine);
    expect("ldb < k", sgemm(kN, kN, 3, 3, 5, 4, 4, 4), kInvalid);
    expect("ldb < n, B transposed", sgemm(kN, kT, 3, 5, 3, 4, 4, 4), kInvalid);
    expect("ldc < m", sgemm(kN, kN, 5, 3, 3, 5, 4, 4), kInvalid);
    expect("an operation that is none", sgemm(static_cast<cublasOperation_t>(7), kN, 3, 3, 3, 4, 4, 4), kInvalid);
    expect("alpha is null", cublasSgemm(cublas, kN, kN, 3, 3, 3, nullptr, a, 4, b, 4, &one, c, 4), kInvalid);
    expect("beta is null", cublasSgemm(cublas, kN, kN, 3, 3, 3, &one, a, 4, b, 4, nullptr, c, 4), kInvalid);
    const auto ex = [&](const Type& of_a, const Type& of_b, const Type& of_c, cublasComputeType_t compute) {
        const double wide_one = 1;
        const void* const factor = compute == CUBLAS_COMPUTE_64F ? static_cast<const void*>(&wide_one) : &one;
        return cublasGemmEx(cublas, kN, kN, 4, 4, 4, factor, a, of_a.id, 4, b, of_b.id, 4, factor, c, of_c.id, 4,
                            compute, CUBLAS_GEMM_DEFAULT);
    };
    expect("GemmEx: A and B of two types", ex(kHalf, kBfloat, kFloat, CUBLAS_COMPUTE_32F), kUnsupported);
    expect("GemmEx: fp32 to bf16", ex(kFloat, kFloat, kBfloat, CUBLAS_COMPUTE_32F), kUnsupported);
    expect("GemmEx: bf16 to fp16", ex(kBfloat, kBfloat, kHalf, CUBLAS_COMPUTE_32F), kUnsupported);
    expect("GemmEx: fp64 computed in fp32", ex(kDouble, kDouble, kDouble, CUBLAS_COMPUTE_32F), kUnsupported);
    expect("GemmEx: fp32 computed in fp64", ex(kFloat, kFloat, kFloat, CUBLAS_COMPUTE_64F), kUnsupported);
    expect("GemmEx: fp32 computed in integers", ex(kFloat, kFloat, kFloat, CUBLAS_COMPUTE_32I), kUnsupported);
    expect("GemmEx: TF32 of bf16", ex(kBfloat, kBfloat, kBfloat, CUBLAS_COMPUTE_32F_FAST_TF32), kUnsupported);
    expect("GemmStridedBatched: batchCount = -1",
           cublasSgemmStridedBatched(cublas, kN, kN, 2, 2, 2, &one, a, 2, 4, b, 2, 4, &one, c, 2, 4, -1), kInvalid);
    expect("GemmStridedBatched: batchCount = 0",
           cublasSgemmStridedBatched(cublas, kN, kN, 2, 2, 2, &one, a, 2, 4, b, 2, 4, &one, c, 2, 4, 0), kFine);
    expect("Sgeam: C is A, transposed", cublasSgeam(cublas, kT, kN, 4, 4, &one, a, 4, &one, b, 4, a, 4), kInvalid);
    expect("Sgeam: C is A, with another ld", cublasSgeam(cublas, kN, kN, 4, 4, &one, a, 4, &one, b, 4, a, 5), kInvalid);
    expect("Sgeam: C is B", cublasSgeam(cublas, kN, kN, 4, 4, &one, a, 4, &one, b, 4, b, 4), kFine);
    expect("Sgeam: ldc < m", cublasSgeam(cublas, kN, kN, 4, 4, &one, a, 4, &one, b, 4, c, 3), kInvalid);
    expect("Sgemv: incx = 0", cublasSgemv(cublas, kN, 4, 4, &one, a, 4, b, 0, &one, c, 1), kInvalid);
    expect("Sgemv: lda < m", cublasSgemv(cublas, kN, 4, 4, &one, a, 3, b, 1, &one, c, 1), kInvalid);
    expect("Sgemv: m = -1", cublasSgemv(cublas, kN, -1, 4, &one, a, 4, b, 1, &one, c, 1), kInvalid);
    expect("Saxpy: n = -1", cublasSaxpy(cublas, -1, &one, a, 1, b, 1), kFine);
    expect("Snrm2: no result", cublasSnrm2(cublas, 4, a, 1, nullptr), kInvalid);
    expect("a math mode that is none", cublasSetMathMode(cublas, static_cast<cublasMath_t>(7)), kInvalid);
    expect("a pointer mode that is none", cublasSetPointerMode(cublas, static_cast<cublasPointerMode_t>(7)), kInvalid);
    expect("a workspace at an odd address", cublasSetWorkspace(cublas, a + 1, 1024), kInvalid);
    expect("a workspace", cublasSetWorkspace(cublas, a, 1024), kFine);
    expect("the null stream takes the workspace back", cublasSetStream(cublas, nullptr), kFine);
    expect("cublasCreate of nowhere", cublasCreate(nullptr), kInvalid);
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
    cublasSetMathMode(cublas, CUBLAS_TF32_TENSOR_OP_MATH);
    const cublasStatus_t got = cublasGetMathMode(cublas, &math);
    row("the math mode that was set", got, "", math == CUBLAS_TF32_TENSOR_OP_MATH && got == kFine);
    cublasSetMathMode(cublas, CUBLAS_DEFAULT_MATH);
    cudaDeviceSynchronize();
}

}  // namespace

int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    const std::string option = argc > 1 ? argv[1] : "";
    says_rows = option == "--rows";
    cublasHandle_t cublas = nullptr;
    require(cublasCreate(&cublas) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
    try_products(cublas, option == "--tf32");
    if (option != "--tf32") {
        try_vectors(cublas);
        try_statuses(cublas);
    }
    cublasDestroy(cublas);
    std::fprintf(stderr, "calls: %d of %d are not as the CPU device's should be\n", wrong, calls);
    return wrong == 0 ? 0 : 1;
}
