// SPDX-License-Identifier: MIT
// verdict: misaligned global cublas_misaligned_for_tensor_cores.cu:23
// With TF32 and a k that 8 divides, pointers of a batch are to be at multiples of 16 bytes: one is not.
#include <cublas_v2.h>
#include <cuda_runtime.h>

int main() {
    constexpr int m = 6, n = 5, k = 8;
    float *a = nullptr, *b = nullptr, *c = nullptr;
    cudaMalloc(&a, m * k * sizeof(float));
    cudaMalloc(&b, k * n * sizeof(float));
    cudaMalloc(&c, m * n * sizeof(float));
    cudaMemset(a, 0, m * k * sizeof(float));
    cudaMemset(b, 0, k * n * sizeof(float));
    cublasHandle_t cublas;
    cublasCreate(&cublas);
    const float one = 1.0F, zero = 0.0F;
    cublasSetMathMode(cublas, CUBLAS_TF32_TENSOR_OP_MATH);
    float* const pointers[3] = {a + 1, b, c};
    float** on_device = nullptr;
    cudaMalloc(&on_device, sizeof pointers);
    cudaMemcpy(on_device, pointers, sizeof pointers, cudaMemcpyHostToDevice);
    cublasSgemmBatched(cublas, CUBLAS_OP_N, CUBLAS_OP_N, 5, n, k, &one, on_device, 5, on_device + 1, k, &zero,
                       on_device + 2, 5, 1);
    cudaFree(on_device);
    cudaDeviceSynchronize();
    cublasDestroy(cublas);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}
