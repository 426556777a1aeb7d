// SPDX-License-Identifier: MIT
// verdict: correct
// The active lanes elect one that adds for all.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void count_even(int* out) {
    if (threadIdx.x % 2 == 0) {
        const unsigned mask = __activemask();
        const int leader = __ffs(mask) - 1;
        int before = 0;
        if (static_cast<int>(threadIdx.x % 32) == leader) {
            before = atomicAdd(out, __popc(mask));
        }
        __shfl_sync(mask, before, leader);
    }
}

int main() {
    constexpr int n = 1;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    count_even<<<4, 256>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 512) {
            return EXIT_FAILURE;
        }
    }
}
