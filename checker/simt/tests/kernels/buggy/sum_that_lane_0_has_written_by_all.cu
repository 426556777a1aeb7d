// SPDX-License-Identifier: MIT
// verdict: race global sum_that_lane_0_has_written_by_all.cu:10 sum_that_lane_0_has_written_by_all.cu:10
// After a sum by __shfl_down_sync only lane 0 has all of it, and every lane writes its own part to the row's place.
#include <cuda_runtime.h>

__global__ void sums(float* out, const float* inp) {
    const unsigned int row = threadIdx.x / 32;
    float sum = inp[threadIdx.x];
    for (unsigned int delta = 16; delta > 0; delta /= 2) { sum += __shfl_down_sync(0xffffffffU, sum, delta); }
    out[row] = sum;
}

int main() {
    float host[64];
    for (int i = 0; i < 64; i++) { host[i] = static_cast<float>(i % 7); }
    float *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, 2 * sizeof(float));
    cudaMalloc(&inp, sizeof host);
    cudaMemcpy(inp, host, sizeof host, cudaMemcpyHostToDevice);
    sums<<<1, 64>>>(out, inp);
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaFree(inp);
}
