// SPDX-License-Identifier: MIT
// verdict: double_free cublas_lt_descriptor_destroyed_twice.cu:11
// Two owners of one descriptor.
#include <cublasLt.h>

int main() {
    cublasLtMatmulPreference_t preference = nullptr;
    cublasLtMatmulPreferenceCreate(&preference);
    const cublasLtMatmulPreference_t other = preference;
    cublasLtMatmulPreferenceDestroy(preference);
    cublasLtMatmulPreferenceDestroy(other);
}
