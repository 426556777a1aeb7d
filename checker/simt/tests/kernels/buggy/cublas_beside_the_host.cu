// SPDX-License-Identifier: MIT
// verdict: race host cublas_beside_the_host.cu:22 cublas_beside_the_host.cu:23
// A product is on its way when cublasSgemm returns; the host reads it at once.
#include <cublas_v2.h>
#include <cuda_runtime.h>

int main() {
    constexpr int n = 4;
    float *a = nullptr, *c = nullptr;
    cudaMallocManaged(&a, n * n * sizeof(float));
    cudaMallocManaged(&c, n * n * sizeof(float));
    for (int i = 0; i < n * n; i++) {
        a[i] = 1.0F;
        c[i] = 0.0F;
    }
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cublasHandle_t cublas;
    cublasCreate(&cublas);
    cublasSetStream(cublas, stream);
    const float one = 1.0F, zero = 0.0F;
    cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, a, n, &zero, c, n);
    const float early = c[0];
    cudaStreamSynchronize(stream);
    const bool right = c[0] == 4.0F && early <= 4.0F;
    cublasDestroy(cublas);
    cudaStreamDestroy(stream);
    cudaFree(a);
    cudaFree(c);
    return right ? 0 : 1;
}
