// SPDX-License-Identifier: MIT
//
// What a lesson's shared object looks like: launchers over raw pointers, no main. The second is wrong.
#include "checker/simt/tests/objects/scale.h"

namespace {

constexpr int kBlock = 64;

// out[n, c] = factor * inp[n, c], through a tile in shared memory.
__global__ void scale_kernel(float* out, const float* inp, float factor, int n) {
    __shared__ float tile[kBlock];
    const int i = blockIdx.x * kBlock + threadIdx.x;
    if (i < n) {
        tile[threadIdx.x] = inp[i];
    }
    __syncthreads();
    if (i < n) {
        out[i] = factor * tile[threadIdx.x];
    }
}

// One element too far.
__global__ void scale_too_far_kernel(float* out, const float* inp, float factor, int n) {
    for (int i = threadIdx.x; i <= n; i += blockDim.x) {
        out[i] = factor * inp[i];
    }
}

// Reads from inp[n] on.
__global__ void scale_from_kernel(float* out, const float* inp, float factor, int n) {
    out[threadIdx.x] = factor * inp[n + static_cast<int>(threadIdx.x)];
}

// out[0] += factor * inp[i], in any order.
__global__ void add_scaled_kernel(float* out, const float* inp, float factor, int n) {
    const int i = blockIdx.x * kBlock + threadIdx.x;
    if (i < n) {
        atomicAdd(out, factor * inp[i]);
    }
}

}  // namespace

void scale(float* out, const float* inp, float factor, int n) {
    scale_kernel<<<(n + kBlock - 1) / kBlock, kBlock>>>(out, inp, factor, n);
}

void scale_too_far(float* out, const float* inp, float factor, int n) {
    scale_too_far_kernel<<<1, kBlock>>>(out, inp, factor, n);
}

void scale_from(float* out, const float* inp, float factor, int n) {
    scale_from_kernel<<<1, 8>>>(out, inp, factor, n);
}

void add_scaled(float* out, const float* inp, float factor, int n) {
    add_scaled_kernel<<<(n + kBlock - 1) / kBlock, kBlock>>>(out, inp, factor, n);
}
