// SPDX-License-Identifier: MIT
// verdict: correct
// A block looks for a value and stops together when one thread has found it.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void find(int* out, const int* inp, int n) {
    for (int begin = 0; begin < n; begin += static_cast<int>(blockDim.x)) {
        const int i = begin + static_cast<int>(threadIdx.x);
        const bool found = i < n && inp[i] == static_cast<int>(blockIdx.x);
        if (found) {
            out[blockIdx.x] = i;
        }
        if (__syncthreads_or(found ? 1 : 0) != 0) {
            break;
        }
    }
}

static int expected(int i) {
    return (i * 67) % 100;
}

int main() {
    constexpr int n = 100;
    static int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    static int numbers[n];
    for (int i = 0; i < n; i++) {
        numbers[i] = i * 3 % 100;
    }
    int* inp = nullptr;
    cudaMalloc(&inp, n * sizeof(int));
    cudaMemcpy(inp, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    find<<<n, 48>>>(out, inp, n);
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
