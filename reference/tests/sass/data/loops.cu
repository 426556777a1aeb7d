// SPDX-License-Identifier: MIT
//
// What test_sass_flow.py reads of: loops.sm_86.sass is nvdisasm's listing of it, made anew by the command in that test.
#include <cuda_pipeline.h>

struct alignas(16) Four {
    float x, y, z, w;
};

__global__ void sum_unrolled(float* out, const float* inp, int n) {
    float sum = 0;
#pragma unroll 4
    for (int i = 0; i < n; i++) { sum += inp[i * 33]; }
    *out = sum;
}

__global__ void nested(float* out, const float* inp, int n) {
    __shared__ float tile[32];
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        tile[threadIdx.x] = inp[i * 32 + threadIdx.x];
        __syncthreads();
#pragma unroll 1
        for (int k = 0; k < n; k++) { sum = fmaf(tile[k], sum, sum); }
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

__global__ void merged(Four* out, const Four* inp) {
    const Four* from = inp + threadIdx.x;
    const float x = from->x;
    const float y = from->y;
    const float z = from->z;
    const float w = from->w;
    out[threadIdx.x].x = x * y + z * w;
}

__global__ void divided(float* out, int n) {
#pragma unroll 1
    for (int i = 0; i < n; i++) { out[i] = out[i] / out[i + n]; }
}

__global__ void copied(float* out, const float4* inp, int n) {
    __shared__ float4 tile[2][32];
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        __pipeline_memcpy_async(&tile[i % 2][threadIdx.x], inp + i * 32 + threadIdx.x, 16);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        out[i * 32 + threadIdx.x] = tile[i % 2][31 - threadIdx.x].x;
    }
}

__global__ void shuffled(float* out, const float* inp, int n) {
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        float x = __expf(inp[i * 32 + threadIdx.x]);
        for (int offset = 16; offset > 0; offset /= 2) { x += __shfl_xor_sync(0xffffffff, x, offset); }
        atomicAdd(out + i, x);
    }
}
