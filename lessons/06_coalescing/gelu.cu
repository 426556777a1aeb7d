// SPDX-License-Identifier: MIT
//
// out[i] = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) with x = inp[i]
//
// As in residual: a thread moves 4 neighbouring floats as one float4, and what no float4 reaches goes float by float.
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

constexpr int kBlock = 256;  // threads in a block
constexpr float kSqrt2OverPi = 0.7978845608028654f;

__device__ float gelu_of(float x) {
    const float cube = 0.044715f * x * x * x;
    return 0.5f * x * (1.0f + tanhf(kSqrt2OverPi * (x + cube)));
}

__global__ void gelu_forward_kernel(float* out,        // (N)
                                    const float* inp,  // (N)
                                    int N, int N4) {   // elements; float4s among them, from the first element on
    const long thread = blockIdx.x * blockDim.x + threadIdx.x;
    const long threads = static_cast<long>(gridDim.x) * blockDim.x;
    // TODO: the two loops of residual, with gelu_of for the sum.
}

}  // namespace

void gelu(float* out,        // (N)
          const float* inp,  // (N)
          int N, Context& ctx) {
    // TODO: as in residual.
}
