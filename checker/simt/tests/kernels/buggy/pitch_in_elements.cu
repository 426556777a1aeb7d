// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global pitch_in_elements.cu:9
// The pitch of rows is bytes; the kernel multiplies a pointer to float by it.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(float* rows, size_t pitch) {
    rows[threadIdx.y * pitch + threadIdx.x] = 1.0F;
}

int main() {
    float* rows = nullptr;
    size_t pitch = 0;
    cudaMallocPitch(&rows, &pitch, 8 * sizeof(float), 4);
    fill<<<1, dim3(8, 4)>>>(rows, pitch);
    cudaFree(rows);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
