// SPDX-License-Identifier: MIT
//
// cuBLASLt on the CPU device: a handle, a choice of algorithm, and a matmul, which is one checked call (library_call.h)
// of products (product.h) with what the epilogue does to their values.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checker/simt/include/cublasLt.h"
#include "checker/simt/libraries/cublas_handle.h"
#include "checker/simt/libraries/cublas_lt_rules.h"
#include "checker/simt/libraries/library_call.h"
#include "checker/simt/libraries/matrix_part.h"
#include "checker/simt/runtime/report/objects.h"

struct cublasLtContext {};

namespace simt {
namespace {

// "cublasLtHandle_t": a handle of cuBLAS is one of cuBLASLt, too.
std::optional<Refusal> wrong_handle(cublasLtHandle_t handle) {
    if (is_object(handle)) {
        return std::nullopt;
    }
    return Refusal{CUBLAS_STATUS_NOT_INITIALIZED,
                   "the handle is none that cublasLtCreate() or cublasCreate() gave (recorded)"};
}

// ---- what a matmul is --------------------------------------------------------------------------------------------------

struct Descriptors {
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, c, d;
};

// "cublasLtMatmul()": without a layout for C, D's is C's. Nothing: a descriptor is null, or was destroyed.
std::optional<LtMatmul> matmul_of(const Descriptors& x, const void* site) {
    const cublasLtMatrixLayout_t c = x.c != nullptr ? x.c : x.d;
    for (const void* const descriptor : {static_cast<const void*>(x.desc), static_cast<const void*>(x.a),
                                         static_cast<const void*>(x.b), static_cast<const void*>(c)}) {
        if (descriptor == nullptr || is_destroyed(descriptor, site)) {
            return std::nullopt;
        }
    }
    if (x.d == nullptr || is_destroyed(x.d, site)) {
        return std::nullopt;
    }
    return LtMatmul{content_of(x.desc), content_of(x.a), content_of(x.b), content_of(c), content_of(x.d)};
}

const Refusal kNoDescriptor{CUBLAS_STATUS_INVALID_VALUE, "a descriptor is null, or was destroyed (cublasLtMatmul())"};

// ---- GELU ----------------------------------------------------------------------------------------------------------------

// The tanh form: x/2 (1 + tanh(u)), u = sqrt(2/pi) (x + 0.044715 x³).
constexpr float kRoot = 0.7978845608028654F, kCube = 0.044715F;

float gelu(float x) {
    return 0.5F * x * (1.0F + std::tanh(kRoot * (x + kCube * x * x * x)));
}

float gelu_gradient(float x) {
    const float tanh = std::tanh(kRoot * (x + kCube * x * x * x));
    return 0.5F * (1.0F + tanh) + 0.5F * x * (1.0F - tanh * tanh) * kRoot * (1.0F + 3.0F * kCube * x * x);
}

// ---- a matmul that runs ------------------------------------------------------------------------------------------------

// The pointers of a call.
struct Pointers {
    const void *alpha, *a, *b, *beta, *c;
    void* d;
    void* workspace;
};

bool alpha_is_vector(const MatmulDesc& desc) {
    return desc.pointer_mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR;
}
bool beta_is_vector(const MatmulDesc& desc) {
    return desc.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE_VECTOR;
}
bool beta_is_zero(const MatmulDesc& desc) {
    return desc.pointer_mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO;
}
bool beta_is_the_hosts(const MatmulDesc& desc) {
    return desc.pointer_mode == CUBLASLT_POINTER_MODE_HOST ||
           desc.pointer_mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST;
}

// A matmul as its call has left it to the stream. Where a vector holds alpha or beta, the number is 1 or 0.
struct IssuedMatmul {
    const char* name;
    LtMatmul matmul;
    Pointers at;
    Algorithm algorithm;
    Scalar alpha, beta;
};

GemmMatrix batch_of(const void* data, const MatrixLayout& x) {
    return {data, static_cast<cudaDataType>(x.type), x.ld, x.stride};
}

std::string text_of(const char* name, const MatrixLayout& x) {
    return fmt::format("{} ({} x {}{}, ld {})", name, x.rows, x.columns, is_column_major(x) ? "" : ", row-major", x.ld);
}

MatrixLayout layout_of_aux(const LtMatmul& x) {
    MatrixLayout layout = x.d;
    layout.ld = x.desc.aux_ld;
    layout.stride = x.desc.aux_stride;
    return layout;
}

// What is stored in columns is a product of `rows` x `columns`: D, or, where D is row-major, its transpose, op(B)' op(A)'.
class RunningMatmul {
  public:
    RunningMatmul(const IssuedMatmul& issued, RunningCall& call)
        : x_(issued.matmul),
          at_(issued.at),
          algorithm_(issued.algorithm),
          name_(issued.name),
          call_(call),
          epilogue_(epilogue_of(x_.desc)),
          transposed_(!is_column_major(x_.d)),
          rows_(transposed_ ? x_.n() : x_.m()),
          columns_(transposed_ ? x_.m() : x_.n()),
          element_(element_of(x_.d)),
          aux_layout_(layout_of_aux(x_)),
          a_(batch_of(at_.a, x_.a)),
          b_(batch_of(at_.b, x_.b)),
          c_(batch_of(at_.c, x_.c)),
          d_(batch_of(at_.d, x_.d)),
          aux_(batch_of(x_.desc.aux, aux_layout_)),
          alpha_(issued.alpha.value(call)),
          beta_(issued.beta.value(call)) {
        if (alpha_is_vector(x_.desc)) {
            for (long batch = 0; batch < x_.batch(); batch++) {
                alphas_.push_back(fetched("alpha", at_.alpha, batch * x_.desc.alpha_stride));
            }
        }
        if (beta_is_vector(x_.desc)) {
            betas_ = fetched("beta", at_.beta, 0);
        }
    }

    void run() {
        // Sums over all of D's columns are not made of some tiles.
        const std::vector<Tile> tiles =
            epilogue_.writes_bias() ? std::vector<Tile>{{.rows = rows_, .columns = columns_, .batch = x_.batch()}}
                                    : tiles_of(name_, rows_, columns_, x_.batch());
        for (const Tile& tile : tiles) { compute(tile); }
        count_narrow();
        if (epilogue_.sums_a || epilogue_.sums_b) {
            sum_over_k();
        }
        if (algorithm_.workspace_bytes > 0) {
            use_workspace();
        }
    }

  private:
    bool reads_c() const { return beta_ != 0 || beta_is_vector(x_.desc); }

    // m numbers, one for each row of D.
    std::vector<float> fetched(const char* name, const void* numbers, long first) {
        std::vector<float> values(static_cast<std::size_t>(x_.m()));
        call_.fetches({.text = fmt::format("{} ({} values)", name, x_.m()),
                       .data = static_cast<const float*>(numbers) + first,
                       .element_bytes = sizeof(float),
                       .rows = x_.m(),
                       .ld = x_.m()},
                      values.data());
        return values;
    }

    // The bias of a tile, or what is written there.
    CallMatrix bias_of(long first, long size, long batch_from, long batch) const {
        return {.text = fmt::format("the bias ({} values)", epilogue_.sums_b ? x_.n() : x_.m()),
                .data = bias_at(batch_from, first),
                .element_bytes = bytes_of(element_),
                .rows = size,
                .ld = size,
                .batch = batch,
                .stride = x_.desc.bias_stride};
    }
    void* bias_at(long batch, long index) const {
        return static_cast<char*>(x_.desc.bias) +
               (batch * x_.desc.bias_stride + index) * static_cast<long>(bytes_of(element_));
    }

    Part left(const Tile& tile) const {
        const bool as_stored = transposed_ ? is_plain(x_.b, x_.desc.op_b) : !is_plain(x_.a, x_.desc.op_a);
        return {transposed_ ? &b_ : &a_, as_stored, tile.row, tile.rows, 0, x_.k(), tile.first, tile.batch};
    }
    Part right(const Tile& tile) const {
        const bool as_stored = transposed_ ? is_plain(x_.a, x_.desc.op_a) : !is_plain(x_.b, x_.desc.op_b);
        return {transposed_ ? &a_ : &b_, as_stored, 0, x_.k(), tile.column, tile.columns, tile.first, tile.batch};
    }
    // Whether op(X) is stored in columns.
    static bool is_plain(const MatrixLayout& layout, std::int32_t op) {
        return is_column_major(layout) == (op == CUBLAS_OP_N);
    }
    static Part part(const GemmMatrix& x, const Tile& tile) {
        return {&x, false, tile.row, tile.rows, tile.column, tile.columns, tile.first, tile.batch};
    }

    void touch(const Tile& tile) {
        if (alpha_ != 0 && x_.k() > 0) {
            const auto text = [&](bool is_a) { return is_a ? text_of("A", x_.a) : text_of("B", x_.b); };
            call_.reads(left(tile).matrix(text(!transposed_), 0));
            call_.reads(right(tile).matrix(text(transposed_), 0));
        }
        const CallMatrix d = part(d_, tile).matrix(text_of("D", x_.d), 0);
        const bool in_place = at_.c == at_.d && x_.c.ld == x_.d.ld && x_.c.stride == x_.d.stride;
        if (reads_c() && in_place) {
            call_.updates(d);
        } else {
            call_.writes(d);
            if (reads_c()) {
                CallMatrix c = part(c_, tile).matrix(text_of("C", x_.c), 0);
                c.columns = c.ld == 0 ? 1 : c.columns;
                call_.reads(c);
            }
        }
        const long first = transposed_ ? tile.column : tile.row, size = transposed_ ? tile.columns : tile.rows;
        if (epilogue_.adds_bias) {
            call_.reads(bias_of(first, size, tile.first, tile.batch));
        }
        if (epilogue_.bias_gradient) {
            call_.writes(bias_of(first, size, tile.first, tile.batch));
        }
        const CallMatrix aux = part(aux_, tile).matrix(text_of("AUX", aux_layout_), 0);
        if (epilogue_.gelu_gradient) {
            call_.reads(aux);
        }
        if (epilogue_.writes_aux) {
            call_.writes(aux);
        }
        call_.takes(2.0 * static_cast<double>(tile.rows * tile.columns) * static_cast<double>(x_.k() * tile.batch),
                    multiplied_as(inputs_of_compute(x_.desc.compute), left(tile).operand(0).element));
    }

    void compute(const Tile& tile) {
        touch(tile);
        const Part a = left(tile), b = right(tile), c = part(c_, tile), d = part(d_, tile);
        for (long i = 0; i < tile.batch && call_.may_compute(); i++) {
            // Where each row of D has its own alpha, the epilogue adds C, which may be overwritten by then.
            const std::vector<float> old =
                alpha_is_vector(x_.desc) && reads_c() ? values_of_c(tile, i) : std::vector<float>();
            multiply({.m = tile.rows,
                      .n = tile.columns,
                      .k = x_.k(),
                      .a = a.operand(i),
                      .b = b.operand(i),
                      .alpha = alpha_,
                      .beta = alpha_is_vector(x_.desc) ? 0 : beta_,
                      .c = c.operand(i),
                      .d = const_cast<void*>(d.at(i)),
                      .d_element = element_,
                      .ldd = x_.d.ld,
                      .inputs = inputs_of_compute(x_.desc.compute),
                      .finish = [&](float* values, long ld) { finish(values, ld, tile, i, old); }});
        }
    }

    static void* column_at(const GemmMatrix& x, const Tile& tile, long column, long batch) {
        Tile from = tile;
        from.column += column;
        return const_cast<void*>(part(x, from).at(batch));
    }

    std::vector<float> values_of_c(const Tile& tile, long batch) const {
        std::vector<float> values(static_cast<std::size_t>(tile.rows * tile.columns));
        for (long column = 0; column < tile.columns; column++) {
            widen(column_at(c_, tile, column, batch), element_, values.data() + column * tile.rows, tile.rows);
        }
        return values;
    }

    // Of a tile's values. A value's place in the bias is its row of D, whichever way D is stored.
    void finish(float* values, long ld, const Tile& tile, long batch, const std::vector<float>& old) {
        const long first = transposed_ ? tile.column : tile.row, size = transposed_ ? tile.columns : tile.rows;
        std::vector<float> bias(static_cast<std::size_t>(size)), stored(static_cast<std::size_t>(tile.rows));
        if (epilogue_.adds_bias) {
            widen(bias_at(tile.first + batch, first), element_, bias.data(), size);
        }
        for (long column = 0; column < tile.columns; column++) {
            float* const value = values + column * ld;
            const auto row_of_d = [&](long row) { return static_cast<std::size_t>(transposed_ ? column : row); };
            for (long row = 0; row < tile.rows && alpha_is_vector(x_.desc); row++) {
                const std::size_t i = static_cast<std::size_t>(first) + row_of_d(row);
                const float beta = beta_is_vector(x_.desc) ? betas_[i] : static_cast<float>(beta_);
                value[row] = alphas_[static_cast<std::size_t>(tile.first + batch)][i] * value[row] +
                             (reads_c() ? beta * old[static_cast<std::size_t>(column * tile.rows + row)] : 0.0F);
            }
            for (long row = 0; row < tile.rows && epilogue_.adds_bias; row++) { value[row] += bias[row_of_d(row)]; }
            if (epilogue_.writes_aux) {
                narrow(value, column_at(aux_, tile, column, batch), element_, tile.rows);
            }
            if (epilogue_.gelu_gradient) {
                widen(column_at(aux_, tile, column, batch), element_, stored.data(), tile.rows);
            }
            for (long row = 0; row < tile.rows; row++) {
                value[row] = epilogue_.gelu   ? gelu(value[row])
                             : epilogue_.relu ? std::fmax(value[row], 0.0F)
                             : epilogue_.gelu_gradient
                                 ? value[row] * gelu_gradient(stored[static_cast<std::size_t>(row)])
                                 : value[row];
                if (epilogue_.bias_gradient) {
                    bias[row_of_d(row)] += value[row];
                }
            }
        }
        if (epilogue_.bias_gradient) {
            narrow(bias.data(), bias_at(tile.first + batch, first), element_, size);
        }
    }

    // BGRADA and BGRADB: the product of one of the inputs and a column of ones.
    void sum_over_k() {
        const std::vector<float> ones(static_cast<std::size_t>(x_.k()), 1.0F);
        const GemmMatrix& summed = epilogue_.sums_a ? a_ : b_;
        const bool transposed =
            epilogue_.sums_a ? !is_plain(x_.a, x_.desc.op_a) : is_plain(x_.b, x_.desc.op_b);  // op(B)' is n x k
        const long size = epilogue_.sums_a ? x_.m() : x_.n();
        call_.writes(bias_of(0, size, 0, x_.batch()));
        for (long batch = 0; batch < x_.batch() && call_.may_compute(); batch++) {
            multiply({.m = size,
                      .n = 1,
                      .k = x_.k(),
                      .a = Part{&summed, transposed, 0, size, 0, x_.k(), 0, x_.batch()}.operand(batch),
                      .b = {ones.data(), Element::fp32, false, std::max(x_.k(), 1L)},
                      .c = {},
                      .d = bias_at(batch, 0),
                      .d_element = element_,
                      .ldd = size});
        }
    }

    // A matrix is moved in small pieces where the algorithm was chosen for less aligned addresses than the call's.
    void count_narrow() {
        if (!algorithm_.was_given()) {
            return;
        }
        const auto count = [&](const MatrixLayout& layout, const void* begin, std::uint8_t alignment) {
            if (alignment < widest_access(layout, begin)) {
                call_.narrows(layout.rows * layout.columns * static_cast<std::uint64_t>(layout.batch) *
                              bytes_of(element_of(layout)));
            }
        };
        count(x_.a, at_.a, algorithm_.align_a);
        count(x_.b, at_.b, algorithm_.align_b);
        count(x_.d, at_.d, algorithm_.align_d);
    }

    // What an algorithm leaves in its workspace means nothing.
    void use_workspace() {
        const auto bytes = static_cast<long>(algorithm_.workspace_bytes);
        call_.writes({.text = "its workspace", .data = at_.workspace, .element_bytes = 1, .rows = bytes, .ld = bytes});
        if (call_.may_compute()) {
            constexpr int kNothing = 0xff;
            std::memset(at_.workspace, kNothing, algorithm_.workspace_bytes);
        }
    }

    const LtMatmul& x_;
    const Pointers& at_;
    const Algorithm& algorithm_;
    const char* const name_;
    RunningCall& call_;
    const Epilogue epilogue_;
    const bool transposed_;
    const long rows_, columns_;
    const Element element_;  // of C, D, AUX and the bias
    const MatrixLayout aux_layout_;
    const GemmMatrix a_, b_, c_, d_, aux_;
    const double alpha_, beta_;
    std::vector<std::vector<float>> alphas_;  // of each of the batch
    std::vector<float> betas_;
};

// ---- a matmul that is called ---------------------------------------------------------------------------------------------

struct Workspace {
    void* memory;
    std::size_t bytes;
};

// What is wrong with a call's pointers: CUBLAS_STATUS_INVALID_VALUE. Whether they point to the device's memory, and to
// enough of it, is judged when the call runs.
std::optional<std::string> wrong_pointer(const LtMatmul& x, const Pointers& at) {
    const Epilogue epilogue = epilogue_of(x.desc);
    if (at.alpha == nullptr || (at.beta == nullptr && !beta_is_zero(x.desc))) {
        return "alpha or beta is null (cublasLtMatmul())";
    }
    if (at.a == nullptr || at.b == nullptr || at.d == nullptr) {
        return "A, B or D is null (cublasLtMatmul())";
    }
    if (at.c == nullptr && beta_is_the_hosts(x.desc) && value_of(at.beta, Element::fp32) != 0) {
        return "C is null, and beta is not 0 (cublasLtMatmul())";
    }
    if (epilogue.has_bias() && x.desc.bias == nullptr) {
        return "the epilogue has a bias, and its pointer is null (cublasLtMatmulDescAttributes_t)";
    }
    if (epilogue.has_aux() && x.desc.aux == nullptr) {
        return "the epilogue has AUX, and its pointer is null (cublasLtMatmulDescAttributes_t)";
    }
    return std::nullopt;
}

// What an algorithm asks of addresses ("cublasLtMatmulPreferenceAttributes_t", "cublasLtMatmulDescAttributes_t"; that the
// status is CUBLAS_STATUS_INVALID_VALUE is not verified).
std::optional<std::string> wrong_alignment(const Algorithm& algorithm, const LtMatmul& x, const Pointers& at) {
    struct Address {
        const char* name;
        const void* pointer;
        std::uint8_t alignment;
    };
    const Epilogue epilogue = epilogue_of(x.desc);
    for (const Address& address :
         {Address{"A", at.a, algorithm.align_a}, Address{"B", at.b, algorithm.align_b},
          Address{"C", at.c, algorithm.align_c}, Address{"D", at.d, algorithm.align_d},
          Address{"the bias", epilogue.has_bias() ? x.desc.bias : nullptr, algorithm.align_bias},
          Address{"AUX", epilogue.has_aux() ? x.desc.aux : nullptr, algorithm.align_aux}}) {
        if (reinterpret_cast<std::uintptr_t>(address.pointer) % address.alignment != 0) {
            return fmt::format(
                "the address of {} is no multiple of {}, which the algorithm was told it would be "
                "(cublasLtMatmulPreferenceAttributes_t; not verified)",
                address.name, address.alignment);
        }
    }
    return std::nullopt;
}

// "cublasLtMatmul()".
std::optional<std::string> wrong_workspace(const Algorithm& algorithm, const Workspace& workspace) {
    if (workspace.bytes < algorithm.workspace_bytes) {
        return fmt::format("the algorithm needs a workspace of {} bytes, and gets {} (cublasLtMatmul())",
                           algorithm.workspace_bytes, workspace.bytes);
    }
    if (algorithm.workspace_bytes > 0 && workspace.memory == nullptr) {
        return "the algorithm needs a workspace, and its address is null (cublasLtMatmul())";
    }
    if (algorithm.workspace_bytes > 0 &&
        reinterpret_cast<std::uintptr_t>(workspace.memory) % kWorkspaceAlignment != 0) {
        return fmt::format("the workspace's address is no multiple of {} (cublasLtMatmul())", kWorkspaceAlignment);
    }
    return std::nullopt;
}

// The algorithm that was given, or one that asks for nothing.
Algorithm algorithm_of(const cublasLtMatmulAlgo_t* algo) {
    Algorithm algorithm;
    if (algo != nullptr) {
        std::memcpy(static_cast<void*>(&algorithm), algo, sizeof algorithm);
    }
    return algorithm;
}

std::optional<Refusal> refusal_of_call(const LtMatmul& x, const Pointers& at, const cublasLtMatmulAlgo_t* algo,
                                       const Workspace& workspace) {
    if (const std::optional<Refusal> refusal = refusal_of(x)) {
        return refusal;
    }
    if (const auto wrong = wrong_pointer(x, at)) {
        return Refusal{CUBLAS_STATUS_INVALID_VALUE, *wrong};
    }
    if (algo == nullptr) {
        return std::nullopt;
    }
    const Algorithm algorithm = algorithm_of(algo);
    if (const std::optional<Refusal> refusal = refusal_of(algorithm, x)) {
        return refusal;
    }
    for (const auto& wrong : {wrong_workspace(algorithm, workspace), wrong_alignment(algorithm, x, at)}) {
        if (wrong) {
            return Refusal{CUBLAS_STATUS_INVALID_VALUE, *wrong};
        }
    }
    return std::nullopt;
}

Scalar scalar(const char* name, const void* where, cublasLtPointerMode_t mode) {
    return {name, where, Element::fp32,
            mode == CUBLASLT_POINTER_MODE_DEVICE ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST};
}

cublasStatus_t issue_matmul(const LtMatmul& x, const Pointers& at, const Algorithm& algorithm,
                            const LibraryCall& call) {
    static constexpr float kOne = 1, kZero = 0;
    const auto mode = static_cast<cublasLtPointerMode_t>(x.desc.pointer_mode);
    const bool beta_is_a_number = !beta_is_vector(x.desc) && !beta_is_zero(x.desc);
    const IssuedMatmul issued{call.name,
                              x,
                              at,
                              algorithm,
                              scalar("alpha", alpha_is_vector(x.desc) ? &kOne : at.alpha, mode),
                              scalar("beta", beta_is_a_number ? at.beta : &kZero, mode)};
    return issue_into(call, [issued](RunningCall& running) { RunningMatmul(issued, running).run(); });
}

void put(cublasLtMatmulHeuristicResult_t& result, const Algorithm& algorithm) {
    result.workspaceSize = algorithm.workspace_bytes;
    result.state = CUBLAS_STATUS_SUCCESS;
    result.wavesCount = static_cast<float>(algorithm.tiles() * algorithm.parts);
}

}  // namespace
}  // namespace simt

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
    if (handle == nullptr) {
        return simt::refuse(__func__, CUBLAS_STATUS_INVALID_VALUE, "the handle's address is null (recorded)");
    }
    *handle = new cublasLtContext;
    simt::note_setup();
    simt::note_object(*handle, "a handle of cuBLASLt", __builtin_return_address(0));
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    if (!simt::is_object(handle)) {
        return simt::refuse(__func__, CUBLAS_STATUS_INVALID_VALUE,
                            "the handle is none that cublasLtCreate() gave (recorded for null)");
    }
    simt::forget_object(handle);
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

const char* cublasLtGetStatusName(cublasStatus_t status) {
    return cublasGetStatusName(status);
}
const char* cublasLtGetStatusString(cublasStatus_t status) {
    return cublasGetStatusString(status);
}
size_t cublasLtGetVersion(void) {
    return CUBLAS_VERSION;
}
size_t cublasLtGetCudartVersion(void) {
    return cublasGetCudartVersion();
}
cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) {
    return cublasGetProperty(type, value);
}

// "cublasLtMatmulAlgoGetHeuristic()": CUBLAS_STATUS_NOT_SUPPORTED, and no result, where there is no algorithm.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t results[], int* returned) {
    if (const auto refusal = simt::wrong_handle(handle)) {
        return simt::refuse(__func__, *refusal);
    }
    if (requested < 1 || results == nullptr || returned == nullptr) {
        return simt::refuse(__func__, CUBLAS_STATUS_INVALID_VALUE,
                            "it asks for no result, or an address for the results is null "
                            "(cublasLtMatmulAlgoGetHeuristic())");
    }
    *returned = 0;
    simt::note_setup();
    const void* const site = __builtin_return_address(0);
    const auto matmul = simt::matmul_of({desc, a, b, c, d}, site);
    if (!matmul || (preference != nullptr && simt::is_destroyed(preference, site))) {
        return simt::refuse(__func__, simt::kNoDescriptor);
    }
    if (const auto refusal = simt::refusal_of(*matmul)) {
        return simt::refuse(__func__, CUBLAS_STATUS_NOT_SUPPORTED, refusal->why);
    }
    const auto algorithm =
        simt::choose(*matmul, preference != nullptr ? simt::content_of(preference) : simt::MatmulPreference());
    if (!algorithm) {
        return simt::refuse(__func__, CUBLAS_STATUS_NOT_SUPPORTED,
                            "the preference's alignment, waves or implementations exclude every algorithm "
                            "(cublasLtMatmulPreferenceAttributes_t)");
    }
    results[0] = {};
    std::memcpy(&results[0].algo, &*algorithm, sizeof *algorithm);
    simt::put(results[0], *algorithm);
    *returned = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                       cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algo, cublasLtMatmulHeuristicResult_t* result) {
    if (const auto refusal = simt::wrong_handle(handle)) {
        return simt::refuse(__func__, *refusal);
    }
    const auto matmul = simt::matmul_of({desc, a, b, c, d}, __builtin_return_address(0));
    if (!matmul || algo == nullptr || result == nullptr) {
        return simt::refuse(__func__, simt::kNoDescriptor);
    }
    const simt::Algorithm algorithm = simt::algorithm_of(algo);
    for (const auto& refusal : {simt::refusal_of(*matmul), simt::refusal_of(algorithm, *matmul)}) {
        if (refusal) {
            return simt::refuse(__func__, *refusal);
        }
    }
    simt::put(*result, algorithm);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo, void* workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
    const void* const site = __builtin_return_address(0);
    if (const auto refusal = simt::wrong_handle(handle)) {
        return simt::refuse(__func__, *refusal);
    }
    const auto matmul = simt::matmul_of({desc, a_layout, b_layout, c_layout, d_layout}, site);
    if (!matmul) {
        return simt::refuse(__func__, simt::kNoDescriptor);
    }
    const simt::Pointers at{alpha, a, b, beta, c, d, workspace};
    if (const auto refusal = simt::refusal_of_call(*matmul, at, algo, {workspace, workspace_bytes})) {
        return simt::refuse(__func__, *refusal);
    }
    return simt::issue_matmul(*matmul, at, simt::algorithm_of(algo), {__func__, stream, site});
}

}  // extern "C"
