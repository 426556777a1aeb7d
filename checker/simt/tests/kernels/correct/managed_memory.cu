// SPDX-License-Identifier: MIT
// verdict: correct
// Managed and pinned memory: the host and the kernel use the same pointers.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void twice(float* out, const float* inp) {
    out[threadIdx.x] = 2.0F * inp[threadIdx.x];
}

int main() {
    float *inp = nullptr, *out = nullptr;
    cudaMallocHost(&inp, 32 * sizeof(float));
    cudaMallocManaged(&out, 32 * sizeof(float));
    for (int i = 0; i < 32; i++) {
        inp[i] = static_cast<float>(i);
    }
    twice<<<1, 32>>>(out, inp);
    cudaDeviceSynchronize();
    const bool right = out[31] == 62.0F;
    cudaFreeHost(inp);
    cudaFree(out);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
