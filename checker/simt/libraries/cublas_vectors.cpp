// SPDX-License-Identifier: MIT
//
// cuBLAS's functions of vectors, and geam, on the CPU device (cublas_gemm.cpp says how). Sums are of double.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "checker/simt/libraries/cublas_handle.h"
#include "checker/simt/libraries/library_call.h"
#include "checker/simt/libraries/product.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/streams/capture.h"
#include "checker/simt/runtime/streams/streams.h"

namespace simt {
namespace {

// n floats, `increment` apart; with a negative increment the first one is the last in memory.
struct Vector {
    const char* name;
    const float* data;
    long n;
    long increment;

    long step() const { return std::abs(increment); }
    float* at(long i) const { return const_cast<float*>(data) + (increment < 0 ? (n - 1 - i) * step() : i * step()); }
    CallMatrix matrix() const {
        return {.text = fmt::format("{} ({} numbers, inc{} {})", name, n, name, increment),
                .data = data,
                .element_bytes = sizeof(float),
                .rows = 1,
                .columns = increment == 0 ? 1 : n,
                .ld = std::max(step(), 1L)};
    }
};

CallMatrix matrix_of(const char* name, const float* data, long rows, long columns, long ld) {
    return {.text = fmt::format("{} ({} x {}, ld{:c} {})", name, rows, columns, name[0] - 'A' + 'a', ld),
            .data = data,
            .element_bytes = sizeof(float),
            .rows = rows,
            .columns = columns,
            .ld = ld};
}

bool is_same(const CallMatrix& a, const CallMatrix& b) {
    return a.data == b.data && a.rows == b.rows && a.columns == b.columns && a.ld == b.ld;
}

// A result that the host asks for is there when the function returns (section "Scalar Parameters"), so a capture cannot take
// it (section "CUDA Graphs Support"). What is returned then was not verified.
cublasStatus_t wait_for(cublasHandle_t handle, cublasStatus_t issued, const char* name, const void* site) {
    if (issued == CUBLAS_STATUS_SUCCESS && handle->pointers == CUBLAS_POINTER_MODE_HOST) {
        const ApiLock turn;
        if (Captures::instance().may_wait(handle->stream, {name, site}) != cudaSuccess) {
            return refuse(name, CUBLAS_STATUS_EXECUTION_FAILED,
                          "a capture has no result for the host: CUBLAS_POINTER_MODE_DEVICE leaves it on the device");
        }
        Streams::instance().wait(handle->stream);
    }
    return issued;
}

}  // namespace
}  // namespace simt

using simt::CallMatrix;
using simt::Element;
using simt::RunningCall;
using simt::Scalar;
using simt::Vector;

extern "C" {

// Section "cublas<t>gemv()".
cublasStatus_t cublasSgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const float* alpha,
                              const float* A, int lda, const float* x, int incx, const float* beta, float* y,
                              int incy) {
    constexpr const char* kName = "cublasSgemv";
    if (!simt::is_handle(handle)) {
        return simt::no_handle(kName);
    }
    if (m < 0 || n < 0 || incx == 0 || incy == 0 || lda < std::max(1, m) || !simt::is_operation(trans) ||
        alpha == nullptr || beta == nullptr) {
        return simt::refuse(
            kName, CUBLAS_STATUS_INVALID_VALUE,
            fmt::format("m = {}, n = {}, lda = {}, incx = {}, incy = {}: sizes are not negative, lda is at "
                        "least max(1, m), increments are not 0, trans is CUBLAS_OP_N, _T or _C, alpha and "
                        "beta are not null (cublas<t>gemv())",
                        m, n, lda, incx, incy));
    }
    if (m == 0 || n == 0) {
        return CUBLAS_STATUS_SUCCESS;
    }
    const bool transposed = trans != CUBLAS_OP_N;
    const Vector in{"x", x, transposed ? m : n, incx}, out{"y", y, transposed ? n : m, incy};
    const Scalar a("alpha", alpha, Element::fp32, handle->pointers), b("beta", beta, Element::fp32, handle->pointers);
    return simt::issue_into(handle, kName, __builtin_return_address(0), [=](RunningCall& call) {
        const double factor = a.value(call), kept = b.value(call);
        if (factor != 0) {
            call.reads(simt::matrix_of("A", A, m, n, lda));
            call.reads(in.matrix());
        }
        kept != 0 ? call.updates(out.matrix()) : call.writes(out.matrix());
        call.takes(2.0 * m * n);
        if (!call.may_compute()) {
            return;
        }
        std::vector<float> xs(static_cast<std::size_t>(in.n)), ys(static_cast<std::size_t>(out.n));
        for (long i = 0; i < in.n && factor != 0; i++) { xs[static_cast<std::size_t>(i)] = *in.at(i); }
        for (long i = 0; i < out.n && kept != 0; i++) { ys[static_cast<std::size_t>(i)] = *out.at(i); }
        simt::multiply({.m = out.n,
                        .n = 1,
                        .k = in.n,
                        .a = {A, Element::fp32, transposed, lda},
                        .b = {xs.data(), Element::fp32, false, in.n},
                        .alpha = factor,
                        .beta = kept,
                        .c = {ys.data(), Element::fp32, false, out.n},
                        .d = ys.data(),
                        .ldd = out.n});
        for (long i = 0; i < out.n; i++) { *out.at(i) = ys[static_cast<std::size_t>(i)]; }
    });
}

// Section "cublas<t>geam()": a matrix whose factor is 0 is not read, and C may be A or B where it is not transposed.
cublasStatus_t cublasSgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           const float* alpha, const float* A, int lda, const float* beta, const float* B, int ldb,
                           float* C, int ldc) {
    constexpr const char* kName = "cublasSgeam";
    if (!simt::is_handle(handle)) {
        return simt::no_handle(kName);
    }
    const bool ta = transa != CUBLAS_OP_N, tb = transb != CUBLAS_OP_N;
    if (m < 0 || n < 0 || !simt::is_operation(transa) || !simt::is_operation(transb) || lda < std::max(1, ta ? n : m) ||
        ldb < std::max(1, tb ? n : m) || ldc < std::max(1, m) || alpha == nullptr || beta == nullptr) {
        return simt::refuse(
            kName, CUBLAS_STATUS_INVALID_VALUE,
            fmt::format("m = {}, n = {}, lda = {}, ldb = {}, ldc = {}: sizes are not negative, a leading "
                        "dimension is at least its matrix's rows, operations are CUBLAS_OP_N, _T or _C, "
                        "alpha and beta are not null (cublas<t>geam())",
                        m, n, lda, ldb, ldc));
    }
    if ((A == C && (ta || lda != ldc)) || (B == C && (tb || ldb != ldc))) {
        return simt::refuse(kName, CUBLAS_STATUS_INVALID_VALUE,
                            "C may be A or B only if that is not transposed and has the same ld (cublas<t>geam())");
    }
    if (m == 0 || n == 0) {
        return CUBLAS_STATUS_SUCCESS;
    }
    const Scalar of_a("alpha", alpha, Element::fp32, handle->pointers),
        of_b("beta", beta, Element::fp32, handle->pointers);
    return simt::issue_into(handle, kName, __builtin_return_address(0), [=](RunningCall& call) {
        const double a = of_a.value(call), b = of_b.value(call);
        const CallMatrix out = simt::matrix_of("C", C, m, n, ldc);
        const CallMatrix first = simt::matrix_of("A", A, ta ? n : m, ta ? m : n, lda);
        const CallMatrix second = simt::matrix_of("B", B, tb ? n : m, tb ? m : n, ldb);
        bool in_place = false;
        for (const auto& [factor, matrix] : {std::pair{a, &first}, std::pair{b, &second}}) {
            if (factor != 0 && simt::is_same(*matrix, out)) {
                in_place = true;
            } else if (factor != 0) {
                call.reads(*matrix);
            }
        }
        in_place ? call.updates(out) : call.writes(out);
        call.takes(3.0 * m * n);
        const auto element = [](const float* x, bool transposed, long ld, long row, long column) {
            return static_cast<double>(x[transposed ? row * ld + column : column * ld + row]);
        };
        for (long j = 0; j < n && call.may_compute(); j++) {
            for (long i = 0; i < m; i++) {
                C[j * ldc + i] = static_cast<float>((a != 0 ? a * element(A, ta, lda, i, j) : 0.0) +
                                                    (b != 0 ? b * element(B, tb, ldb, i, j) : 0.0));
            }
        }
    });
}

// Section "cublas<t>axpy()".
cublasStatus_t cublasSaxpy_v2(cublasHandle_t handle, int n, const float* alpha, const float* x, int incx, float* y,
                              int incy) {
    constexpr const char* kName = "cublasSaxpy";
    if (!simt::is_handle(handle)) {
        return simt::no_handle(kName);
    }
    if (alpha == nullptr) {
        return simt::refuse(kName, CUBLAS_STATUS_INVALID_VALUE, "alpha is null (cublas<t>axpy())");
    }
    if (n <= 0) {
        return CUBLAS_STATUS_SUCCESS;
    }
    const Vector in{"x", x, n, incx}, out{"y", y, n, incy};
    const Scalar a("alpha", alpha, Element::fp32, handle->pointers);
    return simt::issue_into(handle, kName, __builtin_return_address(0), [=](RunningCall& call) {
        const double factor = a.value(call);
        if (factor == 0) {
            return;
        }
        call.reads(in.matrix());
        call.updates(out.matrix());
        call.takes(2.0 * n);
        for (long i = 0; i < n && call.may_compute(); i++) {
            *out.at(i) = static_cast<float>(factor * static_cast<double>(*in.at(i)) + static_cast<double>(*out.at(i)));
        }
    });
}

// Section "cublas<t>nrm2()".
cublasStatus_t cublasSnrm2_v2(cublasHandle_t handle, int n, const float* x, int incx, float* result) {
    constexpr const char* kName = "cublasSnrm2";
    if (!simt::is_handle(handle)) {
        return simt::no_handle(kName);
    }
    if (result == nullptr) {
        return simt::refuse(kName, CUBLAS_STATUS_INVALID_VALUE, "result is null (cublas<t>nrm2())");
    }
    const Vector in{"x", x, incx <= 0 ? 0 : std::max(n, 0), incx};
    const bool on_device = handle->pointers == CUBLAS_POINTER_MODE_DEVICE;
    const cublasStatus_t issued = simt::issue_into(handle, kName, __builtin_return_address(0), [=](RunningCall& call) {
        call.reads(in.matrix());
        if (on_device) {
            call.writes({.text = "result", .data = result, .element_bytes = sizeof(float), .rows = 1});
        }
        call.takes(2.0 * static_cast<double>(in.n));
        double sum = 0;
        for (long i = 0; i < in.n && call.may_compute(); i++) {
            sum += static_cast<double>(*in.at(i)) * static_cast<double>(*in.at(i));
        }
        if (call.may_compute()) {
            *result = static_cast<float>(std::sqrt(sum));
        }
    });
    return simt::wait_for(handle, issued, kName, __builtin_return_address(0));
}

}  // extern "C"
