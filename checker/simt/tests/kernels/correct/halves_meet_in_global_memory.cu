// SPDX-License-Identifier: MIT
// verdict: correct
// The same exchange within halves of a warp, through global memory.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    const int t = static_cast<int>(threadIdx.x);
    const unsigned half = t < 16 ? 0x0000ffffU : 0xffff0000U;
    int* cell = out + 32 + t / 16;
    int sum = 0;
    for (int round = 0; round < 5; round++) {
        sum += *cell;
        __syncwarp(half);
        if (t % 16 == round) {
            *cell += 1;
        }
        __syncwarp(half);
    }
    out[t] = sum;
}

int main() {
    constexpr int n = 34;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i < 32 ? 10 : 5)) {
            return EXIT_FAILURE;
        }
    }
}
