// SPDX-License-Identifier: MIT
// verdict: correct
// A warp for a row: the maximum and the sum go around by shuffles; rows shorter than the warp.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void softmax(float* out, const float* inp, int rows, int columns) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) {
        return;
    }
    const int c = static_cast<int>(threadIdx.x);
    const float x = c < columns ? inp[row * columns + c] : -INFINITY;
    float most = x;
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, lanes));
    }
    const float term = c < columns ? exp2f(x - most) : 0.0F;
    float sum = term;
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        sum += __shfl_xor_sync(0xffffffffU, sum, lanes);
    }
    if (c < columns) {
        out[row * columns + c] = term / sum;
    }
}

static float expected(int i) {
    return i >= 0 ? 1.0F / 16 : 0.0F;
}

int main() {
    constexpr int n = 7 * 16;
    static float host[n];
    float* out = nullptr;
    cudaMalloc(&out, n * sizeof(float));
    static float numbers[n];
    for (int i = 0; i < n; i++) {
        numbers[i] = 3.0F;
    }
    float* inp = nullptr;
    cudaMalloc(&inp, n * sizeof(float));
    cudaMemcpy(inp, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    softmax<<<2, dim3(32, 4)>>>(out, inp, 7, 16);
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
