// SPDX-License-Identifier: MIT
// verdict: correct
// The first lane of each warp hands the warp's sum on.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int cells[128];
    const int t = static_cast<int>(threadIdx.x);
    int sum = t;
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        sum += __shfl_xor_sync(0xffffffffU, sum, lanes);
    }
    if (t % 32 == 0) {
        cells[t / 32] = sum;
    }
    __syncthreads();
    int all = 0;
    for (int w = 0; w < 4; w++) {
        all += cells[w];
    }
    out[t] = all;
}

int main() {
    constexpr int n = 128;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 128>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 127 * 64) {
            return EXIT_FAILURE;
        }
    }
}
