// SPDX-License-Identifier: MIT
// verdict: leak cublas_handle_never_destroyed.cu:9
// The handle keeps a workspace in the device's memory until it is destroyed.
#include <cublas_v2.h>
#include <cuda_runtime.h>

int main() {
    cublasHandle_t cublas;
    return cublasCreate(&cublas) == CUBLAS_STATUS_SUCCESS ? 0 : 1;
}
