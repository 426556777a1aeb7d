// SPDX-License-Identifier: MIT
// verdict: correct
// Each lane adds to one cell in its turn, with __syncwarp() between the turns.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[32];
    const int t = static_cast<int>(threadIdx.x);
    if (t == 0) {
        cells[0] = 0;
    }
    __syncwarp();
    for (int turn = 0; turn < 32; turn++) {
        if (t == turn) {
            cells[0] += t;
        }
        __syncwarp();
    }
    out[t] = cells[0];
}

int main() {
    constexpr int n = 32;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 496) {
            return EXIT_FAILURE;
        }
    }
}
