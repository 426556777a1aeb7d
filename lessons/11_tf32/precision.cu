// SPDX-License-Identifier: MIT
//
// The error of a product of random numbers in fp32 and in TF32, for sums of more and more terms.
// make run FILE=lessons/11_tf32/precision.cu
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "checker/cublas_check.h"
#include "checker/cuda_check.h"

using checker::check;

namespace {

constexpr int kColumns = 32;  // of a and of b: 1,024 outputs

struct Deviation {
    double out, error;  // root mean squares
};

// Of out[i, j] from the sum over k of a[k, i] * b[k, j] in double. All are stored by columns.
Deviation deviation(const std::vector<float>& out,  // (kColumns, kColumns)
                    const std::vector<float>& a,    // (K, kColumns)
                    const std::vector<float>& b,    // (K, kColumns)
                    int K) {
    double outs = 0, errors = 0;
    for (int j = 0; j < kColumns; j++) {
        for (int i = 0; i < kColumns; i++) {
            double sum = 0;
            for (int k = 0; k < K; k++) { sum += static_cast<double>(a[i * K + k]) * b[j * K + k]; }
            outs += sum * sum;
            errors += (out[j * kColumns + i] - sum) * (out[j * kColumns + i] - sum);
        }
    }
    return {std::sqrt(outs / (kColumns * kColumns)), std::sqrt(errors / (kColumns * kColumns))};
}

void compare(cublasHandle_t handle, int K) {
    std::vector<float> a(K * kColumns), b(K * kColumns), out(kColumns * kColumns);
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (std::vector<float>* x : {&a, &b}) {
        for (float& value : *x) { value = normal(random); }
    }
    float *device_a, *device_b, *device_out;
    check(cudaMalloc(&device_a, a.size() * sizeof(float)));
    check(cudaMalloc(&device_b, b.size() * sizeof(float)));
    check(cudaMalloc(&device_out, out.size() * sizeof(float)));
    check(cudaMemcpy(device_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
    check(cudaMemcpy(device_b, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
    std::printf("%5d", K);
    double errors[2], size = 0;
    for (const bool tf32 : {false, true}) {
        const float alpha = 1, beta = 0;
        check(cublasSetMathMode(handle, tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH));
        check(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, kColumns, kColumns, K, &alpha, device_a, K, device_b, K,
                          &beta, device_out, kColumns));
        check(cudaMemcpy(out.data(), device_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
        const Deviation of = deviation(out, a, b, K);
        errors[tf32] = of.error;
        size = of.out;
    }
    std::printf("%9.2f  %8.1e  %8.1e  %13.1e  %14.1e\n", size, errors[0], errors[1], errors[1] / std::sqrt(K),
                errors[1] / size);
    for (float* buffer : {device_a, device_b, device_out}) { check(cudaFree(buffer)); }
}

}  // namespace

int main() {
    const checker::CublasHandle handle;
    std::printf("    K      out      fp32      TF32   TF32/sqrt(K)        TF32/out\n");
    for (const int K : {12, 48, 192, 768, 3072}) { compare(handle, K); }
}
