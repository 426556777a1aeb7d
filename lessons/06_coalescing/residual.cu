// SPDX-License-Identifier: MIT
//
// out[i] = inp1[i] + inp2[i]
//
// A thread moves 4 neighbouring floats as one float4, so that a request of a warp is 512 bytes side by side. What no
// float4 reaches goes float by float, neighbours by neighbours: up to 3 elements at the end, or all of them where a
// tensor does not start at a multiple of 16 bytes.
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

constexpr int kBlock = 256;  // threads in a block

__global__ void residual_forward_kernel(float* out,         // (N)
                                        const float* inp1,  // (N)
                                        const float* inp2,  // (N)
                                        int N, int N4) {    // elements; float4s among them, from the first element on
    const long thread = blockIdx.x * blockDim.x + threadIdx.x;
    const long threads = static_cast<long>(gridDim.x) * blockDim.x;
    // TODO: two grid-stride loops. The first over the N4 float4s: out, inp1 and inp2 seen through pointers to float4
    // (reinterpret_cast). The second over the floats that are left, from element 4 * N4 on, as in lesson 04.
}

}  // namespace

void residual(float* out,         // (N)
              const float* inp1,  // (N)
              const float* inp2,  // (N)
              int N, Context& ctx) {
    // TODO: N4, which is 0 unless is_aligned_16 (launch.h) holds for all three; a thread for each 4 elements, rounded
    // up; the launch and its check.
}
