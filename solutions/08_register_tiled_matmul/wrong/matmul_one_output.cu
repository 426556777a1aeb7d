// SPDX-License-Identifier: MIT
//
// out[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c], with one output a thread: right, and with 16-byte loads, but
// each product still loads two floats from shared memory.
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

constexpr int kTile = 32;          // a block computes kTile rows by kTile columns of out
constexpr int kPitch = kTile + 4;  // floats from one row of a tile to the next

__global__ void matmul_forward_kernel(float* out, const float* inp, const float* weight, const float* bias, int N,
                                      int C, int OC, int out_stride) {
    __shared__ __align__(16) float inp_tile[kTile][kPitch];
    __shared__ __align__(16) float weight_tile[kTile][kPitch];
    const int x = threadIdx.x, y = threadIdx.y;
    const long n = static_cast<long>(blockIdx.x) * kTile + y, o0 = static_cast<long>(blockIdx.y) * kTile, o = o0 + x;
    float sum = bias && o < OC ? bias[o] : 0.0f;
    for (int c0 = 0; c0 < C; c0 += kTile) {
        const int c = c0 + x;
        inp_tile[y][x] = n < N && c < C ? inp[n * C + c] : 0.0f;
        weight_tile[y][x] = o0 + y < OC && c < C ? weight[(o0 + y) * C + c] : 0.0f;
        __syncthreads();
        for (int k = 0; k < kTile; k += 4) {
            const float4 a = *reinterpret_cast<const float4*>(&inp_tile[y][k]);
            const float4 b = *reinterpret_cast<const float4*>(&weight_tile[x][k]);
            sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
        }
        __syncthreads();
    }
    if (n < N && o < OC) {
        out[n * out_stride + o] = sum;
    }
}

}  // namespace

void matmul(float* out, const float* inp, const float* weight, const float* bias, int N, int C, int OC, int out_stride,
            Context& ctx) {
    const dim3 grid(ceil_div(N, kTile), ceil_div(OC, kTile));
    matmul_forward_kernel<<<grid, dim3(kTile, kTile), 0, ctx.stream>>>(out, inp, weight, bias, N, C, OC, out_stride);
    check(cudaGetLastError());
}
