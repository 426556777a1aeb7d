// SPDX-License-Identifier: MIT
//
// Large buffers, read and written by blocks of 256 threads.
#include "checker/simt/tests/objects/pages.h"

namespace {

constexpr int kBlock = 256;

__global__ void copy_kernel(float* out, const float* inp, int n) {
    const int i = blockIdx.x * kBlock + threadIdx.x;
    if (i < n) {
        out[i] = inp[i];
    }
}

__global__ void sum_halves_kernel(float* out, const short* inp, int n) {
    const int i = blockIdx.x * kBlock + threadIdx.x;
    if (i < n) {
        out[i] = static_cast<float>(inp[2 * i] + inp[2 * i + 1]);
    }
}

// Block `writer` also writes inp[one], which another block reads: nothing orders the two.
__global__ void copy_and_write_one_kernel(float* out, float* inp, int n, int writer, int one) {
    const int i = blockIdx.x * kBlock + threadIdx.x;
    if (i < n) {
        out[i] = inp[i];
    }
    if (i == writer * kBlock) {
        inp[one] = 7.0F;
    }
}

__global__ void read_one_of_each_kernel(float* out, const float* inp, int n, int stride, int rounds) {
    float sum = 0.0F;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < n; i += stride) { sum += inp[i]; }
    }
    *out = sum;
}

int blocks(int n) {
    return (n + kBlock - 1) / kBlock;
}

}  // namespace

void copy_floats(float* out, const float* inp, int n) {
    copy_kernel<<<blocks(n), kBlock>>>(out, inp, n);
}

void sum_halves(float* out, const short* inp, int n) {
    sum_halves_kernel<<<blocks(n), kBlock>>>(out, inp, n);
}

void copy_and_write_one(float* out, float* inp, int n, int writer, int one) {
    copy_and_write_one_kernel<<<blocks(n), kBlock>>>(out, inp, n, writer, one);
}

void read_one_of_each(float* out, const float* inp, int n, int stride, int rounds) {
    read_one_of_each_kernel<<<1, 1>>>(out, inp, n, stride, rounds);
}
