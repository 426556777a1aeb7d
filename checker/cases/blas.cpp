// SPDX-License-Identifier: MIT
#include "checker/cases/blas.h"

#include <cblas.h>

#include <algorithm>

namespace checker {
namespace {

void use_one_core() {
    openblas_set_num_threads(1);
}

}  // namespace

std::vector<double> float64_product(const std::vector<double>& inp, const std::vector<double>& weight, int N, int C,
                                    int OC) {
    use_one_core();
    std::vector<double> out(static_cast<std::size_t>(N) * static_cast<std::size_t>(OC));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, N, OC, C, 1.0, inp.data(), C, weight.data(), C, 0.0,
                out.data(), OC);
    return out;
}

void blas_matmul(float* out, const float* inp, const float* weight, const float* bias, int N, int C, int OC,
                 int out_stride) {
    use_one_core();
    for (int n = 0; n < N && bias != nullptr; n++) {
        std::copy_n(bias, OC, out + static_cast<std::size_t>(n) * static_cast<std::size_t>(out_stride));
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, N, OC, C, 1.0F, inp, C, weight, C,
                bias != nullptr ? 1.0F : 0.0F, out, out_stride);
}

}  // namespace checker
