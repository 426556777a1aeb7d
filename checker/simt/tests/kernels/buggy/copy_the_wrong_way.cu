// SPDX-License-Identifier: MIT
// verdict: bad_copy copy_the_wrong_way.cu:12
// Target and source are right, the direction is not.
#include <cuda_runtime.h>

#include <vector>

int main() {
    std::vector<float> host(64);
    float* x = nullptr;
    cudaMalloc(&x, 64 * sizeof(float));
    cudaMemcpy(x, host.data(), 64 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(x);
}
