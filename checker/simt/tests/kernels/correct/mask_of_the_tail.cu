// SPDX-License-Identifier: MIT
// verdict: correct
// The mask of a short last warp is computed before its lanes part.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void sum(int* out, int n) {
    const int i = static_cast<int>(threadIdx.x);
    const unsigned mask = __ballot_sync(0xffffffffU, i < n);
    if (i < n) {
        int value = 1;
        for (int offset = 4; offset > 0; offset /= 2) {
            value += __shfl_xor_sync(mask, value, offset);
        }
        out[i] = value;
    }
}

int main() {
    constexpr int n = 8;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    sum<<<1, 32>>>(out, n);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 8) {
            return EXIT_FAILURE;
        }
    }
}
