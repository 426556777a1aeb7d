// SPDX-License-Identifier: MIT
// verdict: uninitialised global uninitialised_half_of_pair.cu:14
// A row of odd length is read in pairs: nobody has written the last half of the last pair.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

__global__ void fill(__nv_bfloat16* row, int n) {
    if (static_cast<int>(threadIdx.x) < n) {
        row[threadIdx.x] = __float2bfloat16(1.0F);
    }
}

__global__ void sums(float* out, const __nv_bfloat162* pairs) {
    const float2 pair = __bfloat1622float2(pairs[threadIdx.x]);
    out[threadIdx.x] = pair.x + pair.y;
}

int main() {
    __nv_bfloat16* row = nullptr;
    float* out = nullptr;
    cudaMalloc(&row, 64 * sizeof(__nv_bfloat16));
    cudaMalloc(&out, 32 * sizeof(float));
    fill<<<1, 64>>>(row, 63);
    sums<<<1, 32>>>(out, reinterpret_cast<const __nv_bfloat162*>(row));
    cudaFree(row);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
