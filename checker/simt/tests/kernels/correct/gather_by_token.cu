// SPDX-License-Identifier: MIT
// verdict: correct
// Rows of a table by an index that another buffer holds.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void iota(int* tokens, int n, int rows) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        tokens[i] = i * 5 % rows;
    }
}

__global__ void gather(float* out, const float* table, const int* tokens, int C) {
    const float* row = table + tokens[blockIdx.x] * C;
    out[blockIdx.x * C + threadIdx.x] = row[threadIdx.x];
}

static void run(float* out, const float* table, int n, int C) {
    int* tokens = nullptr;
    cudaMalloc(&tokens, n / C * sizeof(int));
    iota<<<1, 7>>>(tokens, n / C, n / C);
    gather<<<n / C, C>>>(out, table, tokens, C);
    cudaFree(tokens);
}

static float expected(int i) {
    return static_cast<float>(i / 12 * 5 % 16 * 12 + i % 12);
}

int main() {
    constexpr int n = 16 * 12;
    static float host[n];
    float* out = nullptr;
    cudaMalloc(&out, n * sizeof(float));
    static float numbers[n];
    for (int i = 0; i < n; i++) {
        numbers[i] = static_cast<float>(i);
    }
    float* inp = nullptr;
    cudaMalloc(&inp, n * sizeof(float));
    cudaMemcpy(inp, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    run(out, inp, n, 12);
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
