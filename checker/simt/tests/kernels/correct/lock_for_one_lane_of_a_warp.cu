// SPDX-License-Identifier: MIT
// verdict: correct
// The lanes of a warp take the lock one after another.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    for (int lane = 0; lane < 32; lane++) {
        if (static_cast<int>(threadIdx.x) % 32 == lane) {
            while (atomicCAS(out, 0, 1) != 0) {
            }
            __threadfence();
            out[1] += lane;
            __threadfence();
            atomicExch(out, 0);
        }
        __syncwarp();
    }
}

int main() {
    constexpr int n = 2;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<3, 64>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 6 * 496 * i) {
            return EXIT_FAILURE;
        }
    }
}
