// SPDX-License-Identifier: MIT
// verdict: bad_copy copy_too_long.cu:12
// The copy counts elements of 8 bytes, the buffer has elements of 4.
#include <cuda_runtime.h>

#include <vector>

int main() {
    std::vector<double> host(64);
    float* x = nullptr;
    cudaMalloc(&x, 64 * sizeof(float));
    cudaMemcpy(x, host.data(), 64 * sizeof(double), cudaMemcpyHostToDevice);
    cudaFree(x);
}
