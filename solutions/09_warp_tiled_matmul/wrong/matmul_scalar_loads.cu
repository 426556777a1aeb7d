// SPDX-License-Identifier: MIT
//
// 128 by 128 outputs a block, 64 by 32 a warp, 8 by 8 a lane, as they should be; but a lane's rows are
// neighbours, and floats are read from shared memory one at a time.
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

constexpr int kBlock = 128, kStep = 8, kThread = 8, kPitch = kBlock + 4;

__global__ void __launch_bounds__(256) matmul_forward_kernel(float* out,           // (N, out_stride)
                                                             const float* inp,     // (N, C)
                                                             const float* weight,  // (OC, C)
                                                             const float* bias,    // (OC), or null for none
                                                             int N, int C, int OC, int out_stride, bool is_aligned) {
    __shared__ float inp_tile[kStep][kPitch], weight_tile[kStep][kPitch];
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    const long n0 = static_cast<long>(blockIdx.x) * kBlock, o0 = static_cast<long>(blockIdx.y) * kBlock;
    const int row = warp % 2 * 64 + lane / 2 % 8 * kThread;
    const int column = warp / 2 * 32 + (lane % 2 + lane / 16 * 2) * 4;
    alignas(16) float sums[kThread][kThread] = {};
    for (int c0 = 0; c0 < C; c0 += kStep) {
        const int c = c0 + thread % 8;
        for (int r = thread / 8; r < kBlock; r += 32) {
            inp_tile[thread % 8][r] = n0 + r < N && c < C ? inp[(n0 + r) * C + c] : 0.0f;
            weight_tile[thread % 8][r] = o0 + r < OC && c < C ? weight[(o0 + r) * C + c] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < kStep; k++) {
            float rows[kThread], columns[kThread];
            for (int i = 0; i < kThread; i++) {
                rows[i] = inp_tile[k][row + i];
                columns[i] = weight_tile[k][column + i / 4 * 16 + i % 4];
            }
            for (int i = 0; i < kThread; i++) {
                for (int j = 0; j < kThread; j++) { sums[i][j] += rows[i] * columns[j]; }
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < kThread; i++) {
        const long n = n0 + row + i;
        for (int j = 0; j < kThread && n < N; j += 4) {
            const long o = o0 + column + j * 4;
            for (int e = 0; e < 4; e++) { sums[i][j + e] += bias && o + e < OC ? bias[o + e] : 0.0f; }
            float* to = out + n * out_stride + o;
            if (is_aligned && o + 4 <= OC) {
                *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(&sums[i][j]);
            } else {
                for (int e = 0; e < 4 && o + e < OC; e++) { to[e] = sums[i][j + e]; }
            }
        }
    }
}

}  // namespace

void matmul(float* out,           // (N, out_stride), out_stride >= OC
            const float* inp,     // (N, C)
            const float* weight,  // (OC, C)
            const float* bias,    // (OC), or null for none
            int N, int C, int OC, int out_stride, Context& ctx) {
    const dim3 grid(ceil_div(N, kBlock), ceil_div(OC, kBlock));
    matmul_forward_kernel<<<grid, 256, 0, ctx.stream>>>(out, inp, weight, bias, N, C, OC, out_stride,
                                                        is_aligned_16(out) && out_stride % 4 == 0);
    check(cudaGetLastError());
}
