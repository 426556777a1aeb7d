// SPDX-License-Identifier: MIT
// verdict: correct
// Pairs that are compared and swapped in shared memory, a barrier after each step.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void sort(int* out, const int* inp) {
    __shared__ int keys[128];
    const unsigned int t = threadIdx.x;
    keys[t] = inp[t];
    __syncthreads();
    for (unsigned int length = 2; length <= 128; length *= 2) {
        for (unsigned int step = length / 2; step > 0; step /= 2) {
            const unsigned int other = t ^ step;
            if (other > t) {
                const bool up = (t & length) == 0;
                const int a = keys[t], b = keys[other];
                if ((a > b) == up) {
                    keys[t] = b;
                    keys[other] = a;
                }
            }
            __syncthreads();
        }
    }
    out[t] = keys[t];
}

static int expected(int i) {
    return i;
}

int main() {
    constexpr int n = 128;
    static int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    static int numbers[n];
    for (int i = 0; i < n; i++) {
        numbers[i] = i * 77 % 128;
    }
    int* inp = nullptr;
    cudaMalloc(&inp, n * sizeof(int));
    cudaMemcpy(inp, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    sort<<<1, n>>>(out, inp);
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
