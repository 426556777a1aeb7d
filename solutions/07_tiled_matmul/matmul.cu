// SPDX-License-Identifier: MIT
//
// out[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c], for o < OC
//
// One thread per output; a block is a square tile of out. The block goes along C in steps of kTile channels: its threads
// load that piece of their rows of inp and of weight into shared memory, one float of each per thread. Each float that
// is loaded then serves kTile outputs.
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

constexpr int kTile = 32;  // a block computes kTile rows by kTile columns of out; a warp is one of the rows

__global__ void matmul_forward_kernel(float* out,           // (N, out_stride)
                                      const float* inp,     // (N, C)
                                      const float* weight,  // (OC, C)
                                      const float* bias,    // (OC), or null for none
                                      int N, int C, int OC, int out_stride) {
    const int x = threadIdx.x, y = threadIdx.y;             // a warp has one y
    const long n0 = static_cast<long>(blockIdx.x) * kTile;  // first row of inp and of out
    const long o0 = static_cast<long>(blockIdx.y) * kTile;  // first row of weight, first column of out
    // >>> solution
    //~ // TODO: two tiles in shared memory. For each kTile channels: every thread loads a float of inp and a float of weight,
    //~ // 0 beyond their edges; barrier; kTile products; barrier. The bias is added once, the sum stored once.
    __shared__ float inp_tile[kTile][kTile];         // inp[n0 + row, c0 + column]
    __shared__ float weight_tile[kTile][kTile + 1];  // weight[o0 + row, c0 + column]; a warp reads a column of it
    const long n = n0 + y, o = o0 + x;               // this thread's output; long, as n * C may pass 2^31
    float sum = bias && o < OC ? bias[o] : 0.0f;
    for (int c0 = 0; c0 < C; c0 += kTile) {
        const int c = c0 + x;  // neighbours in a warp load neighbours of inp and of weight
        inp_tile[y][x] = n < N && c < C ? inp[n * C + c] : 0.0f;
        weight_tile[y][x] = o0 + y < OC && c < C ? weight[(o0 + y) * C + c] : 0.0f;
        __syncthreads();  // both tiles are whole before anyone reads them
        for (int k = 0; k < kTile; k++) { sum += inp_tile[y][k] * weight_tile[x][k]; }
        __syncthreads();  // and everyone has read them before they are overwritten
    }
    if (n < N && o < OC) {
        out[n * out_stride + o] = sum;
    }
    // <<< solution
}

}  // namespace

void matmul(float* out,           // (N, out_stride), out_stride >= OC
            const float* inp,     // (N, C)
            const float* weight,  // (OC, C)
            const float* bias,    // (OC), or null for none
            int N, int C, int OC, int out_stride, Context& ctx) {
    const dim3 block(kTile, kTile);
    const dim3 grid(ceil_div(N, kTile), ceil_div(OC, kTile));  // blocks that run together share rows of weight
    matmul_forward_kernel<<<grid, block, 0, ctx.stream>>>(out, inp, weight, bias, N, C, OC, out_stride);
    check(cudaGetLastError());
}
