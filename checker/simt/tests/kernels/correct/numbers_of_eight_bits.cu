// SPDX-License-Identifier: MIT
// verdict: correct
// Weights of 8 bits, read four at a time and one at a time, and rounded again.
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void twice(const __nv_fp8x4_e4m3* four, const __nv_fp8_e4m3* one, float* out, __nv_fp8_e5m2* rounded) {
    const unsigned i = threadIdx.x;
    const float4 x = static_cast<float4>(four[i / 4]);
    const float mine = i % 4 == 0 ? x.x : i % 4 == 1 ? x.y : i % 4 == 2 ? x.z : x.w;
    out[i] = mine + static_cast<float>(one[i]);
    rounded[i] = static_cast<__nv_fp8_e5m2>(out[i]);
}

int main() {
    constexpr int n = 64;
    __nv_fp8_e4m3 host[n];
    __nv_fp8_e5m2 rounded[n];
    float got[n];
    for (int i = 0; i < n; i++) { host[i] = __nv_fp8_e4m3(static_cast<float>(i - 20) / 8); }
    __nv_fp8_e4m3* in = nullptr;
    __nv_fp8_e5m2* narrow = nullptr;
    float* out = nullptr;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&narrow, sizeof rounded);
    cudaMalloc(&out, sizeof got);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    twice<<<1, n>>>(reinterpret_cast<__nv_fp8x4_e4m3*>(in), in, out, narrow);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    cudaMemcpy(rounded, narrow, sizeof rounded, cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(narrow);
    cudaFree(out);
    bool right = true;
    for (int i = 0; i < n; i++) {
        right = right && got[i] == 2 * static_cast<float>(host[i]) &&
                rounded[i].__x == __nv_fp8_e5m2(2 * static_cast<float>(host[i])).__x;
    }
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
