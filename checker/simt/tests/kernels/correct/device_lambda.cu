// SPDX-License-Identifier: MIT
// verdict: correct
// A lambda and a recursive function in device code.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ int factorial(int k) {
    return k < 2 ? 1 : k * factorial(k - 1);
}

__global__ void apply(int* out) {
    const auto add = [out](int i, int value) { out[i] += value; };
    add(static_cast<int>(threadIdx.x), factorial(static_cast<int>(threadIdx.x) % 6));
}

int main() {
    constexpr int n = 6;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    apply<<<1, n>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return host[5] == 120 && host[0] == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
