// SPDX-License-Identifier: MIT
// verdict: correct
// Two halves of a warp shuffle with masks of their own, in different branches.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void halves(int* out) {
    const int lane = static_cast<int>(threadIdx.x);
    int value = 0;
    if (lane < 16) {
        value = __shfl_sync(0x0000ffffU, lane, 5);
    } else {
        value = __shfl_sync(0xffff0000U, lane, 20);
    }
    __syncwarp();
    out[lane] = value;
}

int main() {
    constexpr int n = 32;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    halves<<<1, n>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i < 16 ? 5 : 20)) {
            return EXIT_FAILURE;
        }
    }
}
