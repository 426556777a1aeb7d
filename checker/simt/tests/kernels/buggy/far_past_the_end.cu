// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global far_past_the_end.cu:9
// So far past the end of the last buffer a GPU has no memory: the launch ends there, and that is the one finding.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void write(float* out, int far) {
    out[threadIdx.x + far] = 2.0F;
}

int main() {
    float* out = nullptr;
    cudaMalloc(&out, 256 * sizeof(float));
    write<<<1, 256>>>(out, 10000000);
    const bool ended = cudaDeviceSynchronize() == cudaErrorIllegalAddress;
    cudaFree(out);
    return ended ? EXIT_SUCCESS : EXIT_FAILURE;
}
