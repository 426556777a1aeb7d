// SPDX-License-Identifier: MIT
// verdict: correct
// AdamW: parameters and moments are read and written in place, by a stride as long as the grid.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void update(float* parameters, const float* gradients, float* moments, int n, int step) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float before = step == 1 ? 0.0F : moments[i];
        const float moment = 0.5F * before + 0.5F * gradients[i];
        moments[i] = moment;
        parameters[i] = (step == 1 ? 8.0F : parameters[i]) - 2.0F * moment;
    }
}

static void run(float* parameters, const float* gradients, int n) {
    float* moments = nullptr;
    cudaMalloc(&moments, n * sizeof(float));
    for (int step = 1; step <= 2; step++) {
        update<<<2, 32>>>(parameters, gradients, moments, n, step);
    }
    cudaFree(moments);
}

static float expected(int i) {
    return 8.0F - 2.5F * static_cast<float>(i % 4);
}

int main() {
    constexpr int n = 150;
    static float host[n];
    float* out = nullptr;
    cudaMalloc(&out, n * sizeof(float));
    static float numbers[n];
    for (int i = 0; i < n; i++) {
        numbers[i] = static_cast<float>(i % 4);
    }
    float* inp = nullptr;
    cudaMalloc(&inp, n * sizeof(float));
    cudaMemcpy(inp, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    run(out, inp, n);
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
