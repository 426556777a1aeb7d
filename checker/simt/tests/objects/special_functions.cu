// SPDX-License-Identifier: MIT
//
// Kernels whose special functions can be counted by hand.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>

#include <cmath>

#include "checker/simt/tests/objects/special_functions.h"

namespace {

__device__ float evaluated(float x, int what) {
    float sine = 0.0f, cosine = 0.0f;
    switch (what) {
        case 0:
            return x / 3.0f + 1.0f / x + fmaxf(x, 2.0f) + floorf(x) + fabsf(x) + fmaf(x, x, x) + __frcp_rn(x);
        case 1:
            return expf(x);
        case 2:
            return __expf(x) + exp(x) + std::exp(x) + exp2f(x) + exp10f(x) + expm1f(x) + __exp10f(x);
        case 3:
            return logf(x) + __logf(x) + std::log(x) + log2f(x) + log10f(x) + log1pf(x) + __log2f(x);
        case 4:
            return sqrtf(x) + sqrt(x) + std::sqrt(x) + __fsqrt_rn(x) + rsqrtf(x) + cbrtf(x) + rcbrtf(x);
        case 5:
            return sinf(x) + __cosf(x + 1.0f) + tanf(x) + sinpif(x) + cospif(x) + atanf(x) + atan2f(x, 2.0f);
        case 6:
            sincosf(x, &sine, &cosine);
            return sine + cosine;
        case 7:
            __sincosf(x, &sine, &cosine);
            return sine + cosine;
        case 8:
            return tanhf(x) + std::tanh(x + 1.0f) + erff(x) + erfcf(x) + normcdff(x) + powf(x, 1.5f) + __powf(x, x);
        case 9:
            return static_cast<float>(exp(double{x}) + sqrt(double{x}) + rsqrt(double{x}) + tanh(double{x}));
        case 10:
            return static_cast<float>(sin(double{x}) * cos(1.0 + x)) + expf(x);
        case 11:
            return __half2float(hexp(__float2half(x))) + __half2float(hsqrt(__float2half(x)));
        case 12:
            return x * expf(1.0f);  // the compiler's
        default:
            return x;
    }
}

__global__ void evaluate_kernel(float* out, const float* inp, int what) {
    out[threadIdx.x] = evaluated(1.0f + inp[threadIdx.x], what);
}

__global__ void evaluate_sine_and_cosine_kernel(float* out, const float* inp) {
    const float x = inp[threadIdx.x];
    out[threadIdx.x + 64] = sinf(x) * cosf(x);
    sincosf(x, &out[threadIdx.x], &out[threadIdx.x + 32]);
}

__global__ void evaluate_pairs_kernel(float* out, const float* inp) {
    const float2 both = __half22float2(h2exp(__floats2half2_rn(inp[threadIdx.x], 1.0f)));
    out[threadIdx.x] = both.x + both.y;
}

__global__ void evaluate_ragged_kernel(float* out, const float* inp, int times) {
    float x = inp[threadIdx.x];
    for (int k = 0; k < times * static_cast<int>(threadIdx.x); k++) { x = 0.5f * expf(-x); }
    if (threadIdx.x % 2 == 1) {
        x += logf(x);
    }
    out[threadIdx.x] = x;
}

__global__ void evaluate_in_a_reduction_kernel(float* out, const float* inp) {
    namespace cg = cooperative_groups;
    const auto tile = cg::tiled_partition<128>(cg::this_thread_block());
    out[threadIdx.x] = cg::reduce(tile, inp[threadIdx.x], [](float a, float b) { return logf(1.0f + a + b); });
}

__global__ void evaluate_once_kernel(float* out, const float* inp) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = expf(inp[threadIdx.x]);
}

__global__ void either_side_kernel(float* out, const float* inp) {
    float sum = 0;
    for (int i = 0; i < 20; i++) {
        const float x = inp[32 * i + threadIdx.x];
        if ((7 * threadIdx.x + 5 * i) % 11 < 4) {
            sum = sum * expf(1 + x);
        } else {
            sum += expf(2 + x);
        }
    }
    out[threadIdx.x] = sum;
}

}  // namespace

void evaluate(float* out, const float* inp, int what) {
    evaluate_kernel<<<1, 40>>>(out, inp, what);
}
void evaluate_sine_and_cosine(float* out, const float* inp) {
    evaluate_sine_and_cosine_kernel<<<1, 32>>>(out, inp);
}
void evaluate_pairs(float* out, const float* inp) {
    evaluate_pairs_kernel<<<1, 32>>>(out, inp);
}
void evaluate_in_a_ragged_loop(float* out, const float* inp, int times) {
    evaluate_ragged_kernel<<<1, 32>>>(out, inp, times);
}
void evaluate_on_either_side(float* out, const float* inp) {
    either_side_kernel<<<1, 32>>>(out, inp);
}
void evaluate_in_a_reduction(float* out, const float* inp) {
    evaluate_in_a_reduction_kernel<<<1, 128>>>(out, inp);
}
float evaluate_beside_the_host(float* out, const float* inp, int blocks) {
    const float before = expf(static_cast<float>(blocks));
    evaluate_once_kernel<<<blocks, 64>>>(out, inp);
    cudaDeviceSynchronize();
    return before + std::sqrt(before);
}
