// SPDX-License-Identifier: MIT
//
// The error of a product of random numbers in fp32 and in TF32, for sums of more and more terms; and the rule by which
// cuBLAS rounds a factor to TF32.
// make run FILE=lessons/11_tf32/precision.cu
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
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

// Returns out[i, j], the sum over k of a[k, i] * b[k, j], by cuBLAS. All are stored by columns.
std::vector<float> product(cublasHandle_t handle, bool tf32,
                           const std::vector<float>& a,  // (K, kColumns)
                           const std::vector<float>& b,  // (K, kColumns)
                           int K) {
    std::vector<float> out(kColumns * kColumns);
    float *device_a, *device_b, *device_out;
    check(cudaMalloc(&device_a, a.size() * sizeof(float)));
    check(cudaMalloc(&device_b, b.size() * sizeof(float)));
    check(cudaMalloc(&device_out, out.size() * sizeof(float)));
    check(cudaMemcpy(device_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
    check(cudaMemcpy(device_b, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
    const float alpha = 1, beta = 0;
    check(cublasSetMathMode(handle, tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH));
    check(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, kColumns, kColumns, K, &alpha, device_a, K, device_b, K, &beta,
                      device_out, kColumns));
    check(cudaMemcpy(out.data(), device_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (float* buffer : {device_a, device_b, device_out}) { check(cudaFree(buffer)); }
    return out;
}

void compare(cublasHandle_t handle, int K) {
    std::vector<float> a(K * kColumns), b(K * kColumns);
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (std::vector<float>* x : {&a, &b}) {
        for (float& value : *x) { value = normal(random); }
    }
    const Deviation fp32 = deviation(product(handle, false, a, b, K), a, b, K);
    const Deviation tf32 = deviation(product(handle, true, a, b, K), a, b, K);
    std::printf("%5d%9.2f  %8.1e  %8.1e  %13.1e  %14.1e\n", K, tf32.out, fp32.error, tf32.error,
                tf32.error / std::sqrt(K), tf32.error / tf32.out);
}

// Multiplies 1 + x/1024 by 1 for three x between neighbours of TF32, which are whole. 0.5 and 1.5 are ties, below an odd and
// below an even neighbour.
void round_factors(cublasHandle_t handle) {
    constexpr int K = kColumns;  // large enough for tensor cores
    constexpr float kFactors[] = {0.5F, 0.75F, 1.5F};
    std::vector<float> a(K * kColumns), b(K * kColumns);
    for (int i = 0; i < 3; i++) {
        a[i * K + i] = 1 + kFactors[i] / 1024;
        b[i] = 1;
    }
    const std::vector<float> out = product(handle, true, a, b, K);
    float x[3];
    for (int i = 0; i < 3; i++) { x[i] = (out[i] - 1) * 1024; }
    constexpr struct {
        float x[3];
        const char* name;
    } kRules[] = {
        {{0, 1, 2}, "nearest, ties to even"}, {{1, 1, 2}, "nearest, ties away from 0"}, {{0, 0, 1}, "cut off"}};
    const auto* const rule = std::find_if(std::begin(kRules), std::end(kRules),
                                          [&](const auto& one) { return std::equal(x, x + 3, one.x); });
    std::printf("1 + x/1024 with x = 0.5, 0.75, 1.5 becomes x = %g, %g, %g: %s\n", x[0], x[1], x[2],
                rule != std::end(kRules) ? rule->name : "neither");
}

}  // namespace

int main() {
    const checker::CublasHandle handle;
    std::printf("    K      out      fp32      TF32   TF32/sqrt(K)        TF32/out\n");
    for (const int K : {12, 48, 192, 768, 3072}) { compare(handle, K); }
    round_factors(handle);
}
