// SPDX-License-Identifier: MIT
// verdict: correct
// A product of cuBLAS between two kernels, all in one stream: column-major, transposed, with a gap between C's columns.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <vector>

__global__ void fill(float* x, int count, float step) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        x[i] = step * static_cast<float>(i % 7 - 3);
    }
}

__global__ void twice(float* x, int m, int n, int ld) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < m * n) {
        x[i / m * ld + i % m] *= 2.0F;
    }
}

int main() {
    constexpr int m = 5, n = 9, k = 13, ldc = 8;
    float *a = nullptr, *b = nullptr, *c = nullptr;
    cudaMalloc(&a, k * m * sizeof(float));
    cudaMalloc(&b, k * n * sizeof(float));
    cudaMalloc(&c, ldc * n * sizeof(float));
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cublasHandle_t cublas;
    bool right = cublasCreate(&cublas) == CUBLAS_STATUS_SUCCESS;
    right = right && cublasSetStream(cublas, stream) == CUBLAS_STATUS_SUCCESS;
    fill<<<1, 128, 0, stream>>>(a, k * m, 0.25F);
    fill<<<1, 128, 0, stream>>>(b, k * n, 0.5F);
    const float alpha = 1.5F, beta = 0.0F;  // beta 0: nobody has written C
    right = right && cublasSgemm(cublas, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &alpha, a, k, b, k, &beta, c, ldc) ==
                         CUBLAS_STATUS_SUCCESS;
    twice<<<1, 64, 0, stream>>>(c, m, n, ldc);
    std::vector<float> out(m * n);
    cudaMemcpy2DAsync(out.data(), m * sizeof(float), c, ldc * sizeof(float), m * sizeof(float), n,
                      cudaMemcpyDeviceToHost, stream);
    right = right && cudaStreamSynchronize(stream) == cudaSuccess;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int l = 0; l < k; l++) { sum += 0.25 * ((i * k + l) % 7 - 3) * 0.5 * ((j * k + l) % 7 - 3); }
            right = right && out[static_cast<std::size_t>(j * m + i)] == static_cast<float>(3.0 * sum);
        }
    }
    cublasDestroy(cublas);
    cudaStreamDestroy(stream);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    return right ? 0 : 1;
}
