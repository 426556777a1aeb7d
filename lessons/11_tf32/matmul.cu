// SPDX-License-Identifier: MIT
//
// out[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c], for o < OC
//
// One cublasSgemm, with TF32 allowed. cuBLAS counts by columns: to it, our row-major (rows, columns) is a (columns, rows)
// whose columns follow each other. So it computes out^T = weight inp^T. The bias is added by a kernel of its own.
#include <algorithm>

#include "checker/cublas_check.h"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

using checker::CublasHandle;

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // NVIDIA's advice for Hopper; 4 MiB before

constexpr int kBlock = 256;  // threads in a block
constexpr unsigned int kBlocksInY = 65535;

// One thread per output: of row blockIdx.x, in a grid of rows and columns, so that no thread divides to find its own. The
// rows are in x, which has room for more than 65,535 blocks.
__global__ void add_bias_kernel(float* out,         // (N, out_stride)
                                const float* bias,  // (OC)
                                int OC, int out_stride) {
    const long n = blockIdx.x;  // long, as N * out_stride may pass 2^31
    for (int o = blockIdx.y * kBlock + threadIdx.x; o < OC; o += gridDim.y * kBlock) {
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
    // TODO: the handle's stream, workspace (kWorkspaceBytes of the Context's, at a multiple of 256) and math mode; then one
    // cublasSgemm. Which of the two operands comes first?
    if (bias) {
        const dim3 grid(N, std::min(ceil_div(OC, kBlock), kBlocksInY));
        add_bias_kernel<<<grid, kBlock, 0, ctx.stream>>>(out, bias, OC, out_stride);
        check(cudaGetLastError());
    }
}
