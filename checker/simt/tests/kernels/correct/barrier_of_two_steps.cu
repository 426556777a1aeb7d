// SPDX-License-Identifier: MIT
// verdict: correct
// cuda::barrier: threads arrive, do something of their own, and wait; a part of the block that waits alone; a function
// that runs when all have arrived; asynchronous copies that land when their thread arrives.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cuda/barrier>
#include <utility>

constexpr int kThreads = 96;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

struct Count {
    int* phases;
    __device__ void operator()() { ++*phases; }
};

__global__ void exchange(const int* in, int* out, int* own) {
    __shared__ Barrier all, half;
    __shared__ int tile[2][kThreads], copied[kThreads];
    const int i = static_cast<int>(threadIdx.x);
    if (i == 0) {
        init(&all, kThreads);
        init(&half, kThreads / 2);
    }
    __syncthreads();
    int sum = 0;
    for (int turn = 0; turn < 6; turn++) {
        tile[turn % 2][i] = in[i] + turn;
        auto token = all.arrive();
        own[i] = turn;
        all.wait(std::move(token));
        sum += tile[turn % 2][(i + 33) % kThreads];
    }
    cuda::memcpy_async(&copied[i], &in[i], sizeof(int), all);
    all.arrive_and_wait();
    sum += copied[kThreads - 1 - i];
    if (i < kThreads / 2) {
        tile[0][i] = sum;
        half.arrive_and_wait();
        sum = tile[0][(i + 1) % (kThreads / 2)];
        half.arrive_and_drop();
    }
    out[i] = sum;
}

__global__ void count(int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block, Count> all;
    __shared__ int phases;
    if (threadIdx.x == 0) {
        phases = 0;
        init(&all, blockDim.x, Count{&phases});
    }
    __syncthreads();
    for (int turn = 0; turn < 3; turn++) { all.arrive_and_wait(); }
    out[threadIdx.x] = phases;
}

int main() {
    int host[kThreads], expected[kThreads];
    for (int i = 0; i < kThreads; i++) { host[i] = i * i; }
    int *in = nullptr, *out = nullptr, *own = nullptr;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&own, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    exchange<<<1, kThreads>>>(in, out, own);
    for (int i = 0; i < kThreads; i++) { expected[i] = 6 * host[(i + 33) % kThreads] + 15 + host[kThreads - 1 - i]; }
    const int first = expected[0];
    for (int i = 0; i < kThreads / 2; i++) { expected[i] = i == kThreads / 2 - 1 ? first : expected[i + 1]; }
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    bool right = true;
    for (int i = 0; i < kThreads; i++) { right = right && host[i] == expected[i]; }
    count<<<1, kThreads>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < kThreads; i++) { right = right && host[i] == 3; }
    cudaFree(in);
    cudaFree(out);
    cudaFree(own);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
