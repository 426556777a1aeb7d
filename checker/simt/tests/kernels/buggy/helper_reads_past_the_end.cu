// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global helper_reads_past_the_end.cu:9 called at helper_reads_past_the_end.cu:23
// A helper reads four floats wherever it is told to; the wrong place is the kernel's.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ float4 load128(const float* from) {
    return *reinterpret_cast<const float4*>(from);
}

__device__ float sum128(const float* from) {
    const float4 four = load128(from);
    return four.x + four.y + four.z + four.w;
}

__global__ void kernel(const float* in, float* out, int n) {
    const int t = static_cast<int>(threadIdx.x);
    if (4 * t >= n) {
        return;
    }
    out[t] = sum128(in + 4 * t);
    out[t] += sum128(in + 4 * (t + 1));
}

int main() {
    constexpr int n = 128;
    float *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n / 4 * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    kernel<<<1, 32>>>(in, out, n);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    return EXIT_SUCCESS;
}
