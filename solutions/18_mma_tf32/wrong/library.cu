// SPDX-License-Identifier: MIT
//
// out[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c], for o < OC
//
// One cublasSgemm, with TF32 allowed. cuBLAS counts by columns: to it, our row-major (rows, columns) is a (columns, rows)
// whose columns follow each other. So it computes out^T = weight inp^T. The bias is added by a kernel of its own.
#include "checker/cublas_check.h"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

using checker::CublasHandle;

constexpr int kBlock = 256;  // threads in a block

// One thread per output.
__global__ void add_bias_kernel(float* out,         // (N, out_stride)
                                const float* bias,  // (OC)
                                int N, int OC, int out_stride) {
    const long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;  // n * OC + o
    const long n = i / OC, o = i % OC;
    if (n < N) {
        out[n * out_stride + o] += bias[o];
    }
}

}  // namespace

void matmul(float* out,           // (N, out_stride), out_stride >= OC
            const float* inp,     // (N, C)
            const float* weight,  // (OC, C)
            const float* bias,    // (OC), or null for none
            int N, int C, int OC, int out_stride, Context& ctx) {
    const cublasHandle_t handle = ctx.handle<CublasHandle>();
    const float alpha = 1.0f, beta = 0.0f;  // beta 0: out is not read
    check(cublasSetStream(handle, ctx.stream));
    check(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
    check(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, OC, N, C,  //
                      &alpha, weight, C, inp, C, &beta, out, out_stride));
    if (bias) {
        const long outputs = static_cast<long>(N) * OC;
        add_bias_kernel<<<ceil_div(outputs, kBlock), kBlock, 0, ctx.stream>>>(out, bias, N, OC, out_stride);
        check(cudaGetLastError());
    }
}
