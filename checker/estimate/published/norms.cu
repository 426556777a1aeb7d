// SPDX-License-Identifier: MIT
//
// Layernorm and RMSNorm of a (M rows, N channels); b holds N weights and, for a layernorm, N biases after them; M means and M
// reciprocals of standard deviations follow the rows of out.
#include <cuda_runtime.h>

#include "checker/estimate/published/kernels.h"

namespace published {
namespace {

constexpr float kEps = 1e-5f;

__device__ float warp_sum(float x) {
    for (int offset = 16; offset > 0; offset /= 2) { x += __shfl_xor_sync(0xffffffffu, x, offset); }
    return x;
}

// A warp per row, which it reads three times.
__global__ void layernorm_warp(float* out, float* mean, float* rstd, const float* a, const float* weight,
                               const float* bias, int M, int N) {
    const int lane = threadIdx.x % 32, m = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (m >= M) {
        return;
    }
    const float* a_m = a + m * N;  // a[m, :]
    float sum = 0.0f;
    for (int n = lane; n < N; n += 32) { sum += a_m[n]; }
    const float mu = warp_sum(sum) / N;
    sum = 0.0f;
    for (int n = lane; n < N; n += 32) { sum += (a_m[n] - mu) * (a_m[n] - mu); }
    const float r = rsqrtf(warp_sum(sum) / N + kEps);
    if (lane == 0) {
        mean[m] = mu;
        rstd[m] = r;
    }
    for (int n = lane; n < N; n += 32) { out[m * N + n] = r * (a_m[n] - mu) * weight[n] + bias[n]; }
}

// A block per row; the variance is the mean of the squares less the mean's square.
__global__ void layernorm_block(float* out, float* mean, float* rstd, const float* a, const float* weight,
                                const float* bias, int N) {
    __shared__ float sums[32], squares[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, m = blockIdx.x;
    const float* a_m = a + m * N;  // a[m, :]
    float sum = 0.0f, square = 0.0f;
    for (int n = threadIdx.x; n < N; n += blockDim.x) {
        const float x = a_m[n];
        sum += x;
        square += x * x;
    }
    sums[warp] = warp_sum(sum);
    squares[warp] = warp_sum(square);
    __syncthreads();
    const bool has_one = lane < static_cast<int>(blockDim.x) / 32;
    const float mu = warp_sum(has_one ? sums[lane] : 0.0f) / N;
    const float r = rsqrtf(warp_sum(has_one ? squares[lane] : 0.0f) / N - mu * mu + kEps);
    if (threadIdx.x == 0) {
        mean[m] = mu;
        rstd[m] = r;
    }
    for (int n = threadIdx.x; n < N; n += blockDim.x) { out[m * N + n] = r * (a_m[n] - mu) * weight[n] + bias[n]; }
}

// A warp per row, which it keeps in shared memory: of a block as many rows as it has warps.
__global__ void layernorm_shared(float* out, float* mean, float* rstd, const float* a, const float* weight,
                                 const float* bias, int M, int N) {
    extern __shared__ float rows[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, m = blockIdx.x * (blockDim.x / 32) + warp;
    if (m >= M) {
        return;
    }
    float* row = rows + warp * N;
    float sum = 0.0f, square = 0.0f;
    for (int n = lane; n < N; n += 32) {
        const float x = a[m * N + n];
        row[n] = x;
        sum += x;
        square += x * x;
    }
    const float mu = warp_sum(sum) / N, r = rsqrtf(warp_sum(square) / N - mu * mu + kEps);
    if (lane == 0) {
        mean[m] = mu;
        rstd[m] = r;
    }
    for (int n = lane; n < N; n += 32) { out[m * N + n] = weight[n] * (row[n] - mu) * r + bias[n]; }
}

// A thread per row.
__global__ void rmsnorm_thread(float* out, const float* a, const float* weight, const float* bias, int M, int N) {
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M) {
        return;
    }
    const float* a_m = a + m * N;  // a[m, :]
    float square = 0.0f;
    for (int n = 0; n < N; n++) { square += a_m[n] * a_m[n]; }
    const float rms = sqrtf(square / N + kEps);
    for (int n = 0; n < N; n++) { out[m * N + n] = __fdividef(a_m[n], rms) * weight[n] + bias[n]; }
}

// A warp per row.
__global__ void rmsnorm_warp(float* out, const float* a, const float* weight, const float* bias, int M, int N) {
    const int lane = threadIdx.x % 32, m = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (m >= M) {
        return;
    }
    const float* a_m = a + m * N;  // a[m, :]
    float square = 0.0f;
    for (int n = lane; n < N; n += 32) { square += a_m[n] * a_m[n]; }
    const float rms = sqrtf(warp_sum(square) / N + kEps);
    for (int n = lane; n < N; n += 32) { out[m * N + n] = __fdividef(a_m[n], rms) * weight[n] + bias[n]; }
}

// A block per row of kN channels. Its threads' sums are added up in shared memory, at half the block, a quarter, …; kKept: the
// row stays in shared memory.
template <int kN, int kThreads, bool kKept>
__global__ void rmsnorm_block(float* out, const float* a, const float* weight) {
    __shared__ float sums[kThreads], row[kKept ? kN : 1], r;
    const int thread = threadIdx.x;
    const float* a_m = a + blockIdx.x * kN;  // a[m, :]
    float square = 0.0f;
    for (int n = thread; n < kN; n += kThreads) {
        const float x = a_m[n];
        if constexpr (kKept) {
            row[n] = x;
        }
        square += x * x;
    }
    sums[thread] = square;
    __syncthreads();
    for (int distance = kThreads / 2; distance > 0; distance /= 2) {
        if (thread < distance) {
            sums[thread] += sums[thread + distance];
        }
        __syncthreads();
    }
    if (thread == 0) {
        r = rsqrtf(sums[0] / kN + kEps);
    }
    __syncthreads();
    for (int n = thread; n < kN; n += kThreads) {
        out[blockIdx.x * kN + n] = (kKept ? row[n] : a_m[n]) * r * weight[n];
    }
}

// The same with shuffles instead of the tree, and, for kWidth 4, by float4.
template <int kN, int kThreads, int kWidth>
__global__ void rmsnorm_shuffles(float* out, const float* a, const float* weight) {
    __shared__ __align__(16) float row[kN];
    __shared__ float sums[32], r;
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const float* a_m = a + blockIdx.x * kN;  // a[m, :]
    float* out_m = out + blockIdx.x * kN;
    float square = 0.0f;
    for (int n = thread * kWidth; n < kN; n += kThreads * kWidth) {
        if constexpr (kWidth == 4) {
            const float4 x = *reinterpret_cast<const float4*>(a_m + n);
            *reinterpret_cast<float4*>(row + n) = x;
            square += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
        } else {
            const float x = a_m[n];
            row[n] = x;
            square += x * x;
        }
    }
    square = warp_sum(square);
    if (lane == 0) {
        sums[warp] = square;
    }
    __syncthreads();
    if (thread < 32) {
        square = warp_sum(lane < kThreads / 32 ? sums[lane] : 0.0f);
        if (lane == 0) {
            r = rsqrtf(square / kN + kEps);
        }
    }
    __syncthreads();
    for (int n = thread * kWidth; n < kN; n += kThreads * kWidth) {
        if constexpr (kWidth == 4) {
            const float4 x = *reinterpret_cast<const float4*>(row + n);
            const float4 w = *reinterpret_cast<const float4*>(weight + n);
            *reinterpret_cast<float4*>(out_m + n) =
                make_float4(x.x * r * w.x, x.y * r * w.y, x.z * r * w.z, x.w * r * w.w);
        } else {
            out_m[n] = row[n] * r * weight[n];
        }
    }
}

struct Layernorm {
    float *mean, *rstd;
    const float *weight, *bias;
    int M, N;
    explicit Layernorm(const Problem& p)
        : mean(p.out + p.M * p.N),
          rstd(mean + p.M),
          weight(p.b),
          bias(p.b + p.N),
          M(static_cast<int>(p.M)),
          N(static_cast<int>(p.N)) {}
};

void layernorm_warps(const Problem& p) {
    const Layernorm l(p);
    layernorm_warp<<<l.M, 32>>>(p.out, l.mean, l.rstd, p.a, l.weight, l.bias, l.M, l.N);
}

void layernorm_blocks(const Problem& p) {
    const Layernorm l(p);
    layernorm_block<<<l.M, 256>>>(p.out, l.mean, l.rstd, p.a, l.weight, l.bias, l.N);
}

void layernorm_in_shared(const Problem& p) {
    const Layernorm l(p);
    layernorm_shared<<<(l.M + 7) / 8, 256, 8 * l.N * sizeof(float)>>>(p.out, l.mean, l.rstd, p.a, l.weight, l.bias, l.M,
                                                                      l.N);
}

void rmsnorm_threads(const Problem& p) {
    const Layernorm l(p);
    rmsnorm_thread<<<(l.M + 31) / 32, 32>>>(p.out, p.a, l.weight, l.bias, l.M, l.N);
}

void rmsnorm_warps(const Problem& p) {
    const Layernorm l(p);
    rmsnorm_warp<<<l.M, 32>>>(p.out, p.a, l.weight, l.bias, l.M, l.N);
}

using Rmsnorm = void (*)(float*, const float*, const float*);

template <Rmsnorm kKernel>
void of_4096(const Problem& p) {  // 4096 channels, 512 threads
    kKernel<<<static_cast<unsigned>(p.M), 512>>>(p.out, p.a, p.b);
}

}  // namespace

const std::vector<Published> norms = {
    {"layernorm, warp per row, block 32", layernorm_warps},
    {"layernorm, block per row, block 256", layernorm_blocks},
    {"layernorm, warp per row in shared memory, block 256", layernorm_in_shared},
    {"rmsnorm, thread per row, block 32", rmsnorm_threads},
    {"rmsnorm, warp per row, block 32", rmsnorm_warps},
    {"rmsnorm, block per row, tree", of_4096<rmsnorm_block<4096, 512, false>>},
    {"rmsnorm, block per row, tree, row kept", of_4096<rmsnorm_block<4096, 512, true>>},
    {"rmsnorm, block per row, shuffles, row kept", of_4096<rmsnorm_shuffles<4096, 512, 1>>},
    {"rmsnorm, block per row, shuffles, float4", of_4096<rmsnorm_shuffles<4096, 512, 4>>},
};

}  // namespace published
