// SPDX-License-Identifier: MIT
//
// out[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c], for o < OC
//
// One thread per output. A block is a square tile of out, so that each row of inp and of weight that it reads serves kTile
// of its threads. The grid counts rows of out in x, which advances first: blocks that run together share rows of weight.
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

constexpr int kTile = 16;  // a block computes kTile rows by kTile columns of out

__global__ void matmul_forward_kernel(float* out,           // (N, out_stride)
                                      const float* inp,     // (N, C)
                                      const float* weight,  // (OC, C)
                                      const float* bias,    // (OC), or null for none
                                      int N, int C, int OC, int out_stride) {
    const long n = blockIdx.x * blockDim.y + threadIdx.y;  // long, as n * C and n * out_stride may pass 2^31
    const long o = blockIdx.y * blockDim.x + threadIdx.x;  // neighbours in a warp store neighbours of out
    // TODO: nothing beyond row N or column OC. Else the dot product of inp[n, :] and weight[o, :], started from the
    // bias or from 0 where bias is null; one store.
}

}  // namespace

void matmul(float* out,           // (N, out_stride), out_stride >= OC
            const float* inp,     // (N, C)
            const float* weight,  // (OC, C)
            const float* bias,    // (OC), or null for none
            int N, int C, int OC, int out_stride, Context& ctx) {
    const dim3 block(kTile, kTile);
    // TODO: the grid, tiles of n in x and tiles of o in y; the launch; the check.
}
