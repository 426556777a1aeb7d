// SPDX-License-Identifier: MIT
// verdict: collective two_shuffles_of_one_warp.cu:10
// Half of the warp is in one shuffle, half in another, and each names all lanes.
#include <cuda_runtime.h>

__global__ void halves(int* out) {
    const int lane = static_cast<int>(threadIdx.x);
    int other = 0;
    if (lane < 16) {
        other = __shfl_down_sync(0xffffffffU, lane, 1);
    } else {
        other = __shfl_xor_sync(0xffffffffU, lane, 1);
    }
    out[lane] = other;
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(int));
    halves<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
