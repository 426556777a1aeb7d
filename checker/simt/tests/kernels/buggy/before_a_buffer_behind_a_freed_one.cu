// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global before_a_buffer_behind_a_freed_one.cu:9
// The index is too small by far: it lies in the room behind a buffer that was freed, which the kernel knows nothing of.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void shift(float* x, int by) {
    x[static_cast<int>(threadIdx.x) - by] = 1.0F;
}

int main() {
    float *scratch = nullptr, *x = nullptr;
    cudaMalloc(&scratch, 64 * sizeof(float));
    cudaMalloc(&x, 64 * sizeof(float));
    cudaFree(scratch);
    shift<<<1, 64>>>(x, 1000);
    cudaDeviceSynchronize();
    cudaFree(x);
}
