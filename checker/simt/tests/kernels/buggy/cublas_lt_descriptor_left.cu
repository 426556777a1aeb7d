// SPDX-License-Identifier: MIT
// verdict: leak cublas_lt_descriptor_left.cu:9
// One descriptor is made for each call and never destroyed.
#include <cublasLt.h>

int main() {
    for (int call = 0; call < 3; call++) {
        cublasLtMatmulDesc_t desc = nullptr;
        cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    }
}
