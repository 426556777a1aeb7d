// SPDX-License-Identifier: MIT
// verdict: collective mask_in_divergent_code.cu:9
// Only even lanes come to a vote that names all.
#include <cuda_runtime.h>

__global__ void vote(unsigned* out) {
    unsigned votes = 0;
    if (threadIdx.x % 2 == 0) {
        votes = __ballot_sync(0xffffffffU, 1);
    } else {
        __syncthreads();
    }
    out[threadIdx.x] = votes;
}

int main() {
    unsigned* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(unsigned));
    vote<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
