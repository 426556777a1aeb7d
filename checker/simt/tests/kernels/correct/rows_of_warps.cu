// SPDX-License-Identifier: MIT
// verdict: correct
// Each warp owns a row: it reads its maximum, meets, and writes the row in place.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    int* row = out + 32 * (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
    const int lane = static_cast<int>(threadIdx.x) % 32;
    row[lane] = lane;
    __syncwarp();
    int most = 0;
    for (int k = 0; k < 32; k++) {
        most = row[k] > most ? row[k] : most;
    }
    __syncwarp();
    row[lane] -= most;
}

int main() {
    constexpr int n = 192;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<3, 64>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != i % 32 - 31) {
            return EXIT_FAILURE;
        }
    }
}
