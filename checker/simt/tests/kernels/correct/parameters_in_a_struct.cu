// SPDX-License-Identifier: MIT
// verdict: correct
// A struct of pointers and extents, passed by value, and more parameters than registers hold.
#include <cuda_runtime.h>

#include <cstdlib>

struct Rows {
    float* out;
    const float* inp;
    int count, columns;
};

__global__ void scale(Rows rows, float a, double b, char c, short d, long long e, float f, float g, float h,
                      int first) {
    const int i = first + static_cast<int>(threadIdx.x);
    if (i < rows.count * rows.columns) {
        const double factor = a + b + c + d + static_cast<double>(e) + f + g + h;
        rows.out[i] = static_cast<float>(factor * rows.inp[i]);
    }
}

static float expected(int i) {
    return 36.0F * static_cast<float>(i);
}

int main() {
    constexpr int n = 40;
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
    scale<<<1, 64>>>(Rows{out, inp, 4, 10}, 1.0F, 2.0, 3, 4, 5, 6.0F, 7.0F, 8.0F, 0);
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
