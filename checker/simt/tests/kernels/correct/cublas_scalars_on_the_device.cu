// SPDX-License-Identifier: MIT
// verdict: correct
// Alpha and beta of the device's memory are read when the stream comes to the call: a kernel has written them by then.
#include <cublas_v2.h>
#include <cuda_runtime.h>

__global__ void set(float* x, float value, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) {
        x[i] = value;
    }
}

int main() {
    constexpr int n = 6;
    float *a = nullptr, *c = nullptr, *scalars = nullptr;
    cudaMalloc(&a, n * n * sizeof(float));
    cudaMalloc(&c, n * n * sizeof(float));
    cudaMalloc(&scalars, 3 * sizeof(float));
    cublasHandle_t cublas;
    cublasCreate(&cublas);
    cublasSetPointerMode(cublas, CUBLAS_POINTER_MODE_DEVICE);
    set<<<1, n * n>>>(a, 1.0F, n * n);
    set<<<1, 1>>>(scalars, 2.0F, 1);
    set<<<1, 1>>>(scalars + 1, 0.0F, 1);  // beta: C is not read
    bool right = cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, scalars, a, n, a, n, scalars + 1, c, n) ==
                 CUBLAS_STATUS_SUCCESS;
    right = right && cublasSnrm2(cublas, n, c, 1, scalars + 2) == CUBLAS_STATUS_SUCCESS;
    float norm = 0;
    cudaMemcpy(&norm, scalars + 2, sizeof norm, cudaMemcpyDeviceToHost);
    right = right && norm > 29.39F && norm < 29.40F;  // 12 sqrt(6)
    cublasDestroy(cublas);
    cudaFree(a);
    cudaFree(c);
    cudaFree(scalars);
    return right ? 0 : 1;
}
