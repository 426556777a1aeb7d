// SPDX-License-Identifier: MIT
// verdict: use_after_free copy_from_freed.cu:16
// The result is fetched after its buffer is gone.
#include <cuda_runtime.h>

__global__ void fill(float* out) {
    out[threadIdx.x] = 1.0F;
}

int main() {
    float host[32];
    float* out = nullptr;
    cudaMalloc(&out, sizeof host);
    fill<<<1, 32>>>(out);
    cudaFree(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
}
