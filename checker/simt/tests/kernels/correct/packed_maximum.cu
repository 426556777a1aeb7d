// SPDX-License-Identifier: MIT
// verdict: correct
// A value and its index in one 64-bit word, the largest of which an atomic keeps.
#include <cuda_runtime.h>

#include <cstdlib>

using Word = unsigned long long;

__global__ void largest(Word* out, const Word* inp, int n) {
    __shared__ Word best;
    if (threadIdx.x == 0) {
        best = 0;
    }
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicMax(&best, inp[i] << 32 | static_cast<Word>(i));
    }
    __syncthreads();
    if (i < n) {
        out[i] = best;
    }
}

static unsigned long long expected(int i) {
    return i < 45 ? 29ULL << 32 | 29ULL : 89ULL << 32 | 89ULL;
}

int main() {
    constexpr int n = 90;
    static unsigned long long host[n];
    unsigned long long* out = nullptr;
    cudaMalloc(&out, n * sizeof(unsigned long long));
    static unsigned long long numbers[n];
    for (int i = 0; i < n; i++) {
        numbers[i] = static_cast<unsigned long long>(i < 45 ? i % 30 : i);
    }
    unsigned long long* inp = nullptr;
    cudaMalloc(&inp, n * sizeof(unsigned long long));
    cudaMemcpy(inp, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    largest<<<2, 45>>>(out, inp, n);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    cudaFree(inp);
    for (int i = 0; i < n; i++) {
        if (host[i] != expected(i)) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
