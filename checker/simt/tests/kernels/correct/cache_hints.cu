// SPDX-License-Identifier: MIT
// verdict: correct
// Loads and stores with hints give what plain ones give.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void copy(float4* out, const float4* inp) {
    float4 v = __ldg(inp + threadIdx.x);
    v.x += __ldcs(&inp[threadIdx.x].x) + __ldcg(&inp[threadIdx.x].y) + __ldca(&inp[threadIdx.x].z) + 1.0F;
    __stcs(out + threadIdx.x, v);
    __stcg(&out[threadIdx.x].y, 2.0F);
}

int main() {
    constexpr int n = 64;
    float host[n];
    float* out = nullptr;
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(out, 0, n * sizeof(float));
    copy<<<1, n / 4>>>(reinterpret_cast<float4*>(out), reinterpret_cast<const float4*>(out));
    cudaMemcpy(host, out, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i % 4 == 0 ? 1.0F : i % 4 == 1 ? 2.0F : 0.0F)) {
            return EXIT_FAILURE;
        }
    }
}
