// SPDX-License-Identifier: MIT
// verdict: correct
// Only s <= t is written and only that is read: the rest of the square stays as it was allocated.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void scores(float* square, int T) {
    const int s = static_cast<int>(threadIdx.x), t = static_cast<int>(blockIdx.x);
    if (s <= t) {
        square[t * T + s] = static_cast<float>(s);
    }
}

__global__ void sums(float* out, const float* square, int T) {
    const int t = static_cast<int>(threadIdx.x);
    float sum = 0.0F;
    for (int s = 0; s <= t; s++) {
        sum += square[t * T + s];
    }
    out[t] = sum;
}

static void run(float* out, int T) {
    float* square = nullptr;
    cudaMalloc(&square, T * T * sizeof(float));
    scores<<<T, T>>>(square, T);
    sums<<<1, T>>>(out, square, T);
    cudaFree(square);
}

static float expected(int i) {
    return static_cast<float>(i * (i + 1) / 2);
}

int main() {
    constexpr int n = 32;
    static float host[n];
    float* out = nullptr;
    cudaMalloc(&out, n * sizeof(float));
    run(out, n);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != expected(i)) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
