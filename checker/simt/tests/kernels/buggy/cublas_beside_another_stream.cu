// SPDX-License-Identifier: MIT
// verdict: race streams cublas_beside_another_stream.cu:10 cublas_beside_another_stream.cu:28
// The kernel waits for nobody: it may read C while cuBLAS writes it.
#include <cublas_v2.h>
#include <cuda_runtime.h>

__global__ void add_bias(float* out, const float* product, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) {
        out[i] = product[i] + 1.0F;
    }
}

int main() {
    constexpr int n = 8;
    float *a = nullptr, *c = nullptr, *out = nullptr;
    for (float** x : {&a, &c, &out}) {
        cudaMalloc(x, n * n * sizeof(float));
        cudaMemset(*x, 0, n * n * sizeof(float));
    }
    cudaStream_t products, kernels;
    cudaStreamCreate(&products);
    cudaStreamCreate(&kernels);
    cublasHandle_t cublas;
    cublasCreate(&cublas);
    cublasSetStream(cublas, products);
    const float one = 1.0F, zero = 0.0F;
    cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, a, n, &zero, c, n);
    add_bias<<<1, n * n, 0, kernels>>>(out, c, n * n);
    cudaDeviceSynchronize();
    cublasDestroy(cublas);
    cudaStreamDestroy(products);
    cudaStreamDestroy(kernels);
    for (float* x : {a, c, out}) { cudaFree(x); }
}
