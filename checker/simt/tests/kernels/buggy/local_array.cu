// SPDX-License-Identifier: MIT
// verdict: out_of_bounds array local_array.cu:9
// An array in registers with one element too few.
#include <cuda_runtime.h>

__global__ void sum_of_last(float* out, const float* inp, int n) {
    float last[4];
    for (int k = 0; k < n; k++) {
        last[k] = inp[k];
    }
    out[threadIdx.x] = last[0] + last[1] + last[2] + last[3];
}

int main() {
    float *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, 32 * sizeof(float));
    cudaMalloc(&inp, 5 * sizeof(float));
    cudaMemset(inp, 0, 5 * sizeof(float));
    sum_of_last<<<1, 32>>>(out, inp, 5);
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaFree(inp);
}
