// SPDX-License-Identifier: MIT
// verdict: correct
// Two blocks write two fields of the same elements.
#include <cuda_runtime.h>

#include <cstdlib>

struct Pair {
    int first;
    int second;
};

__global__ void kernel(int* out) {
    auto* pairs = reinterpret_cast<Pair*>(out);
    if (blockIdx.x == 0) {
        pairs[threadIdx.x].first = 1;
    } else {
        pairs[threadIdx.x].second = 2;
    }
}

int main() {
    constexpr int n = 128;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<2, 64>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 1 + i % 2) {
            return EXIT_FAILURE;
        }
    }
}
