// SPDX-License-Identifier: MIT
// verdict: race shared last_warp_reads_what_one_has_not_fenced.cu:14 last_warp_reads_what_one_has_not_fenced.cu:21
// The warp that comes last adds up what both have left. Warp 1 does not fence, which is wrong only if warp 0 is last.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int parts[2], come;
    const int t = static_cast<int>(threadIdx.x);
    come = 0;
    __syncthreads();
    if (t % 32 == 0) {
        parts[t / 32] = t + 1;
        if (t == 0) {
            __threadfence_block();
        }
        const int before = atomicAdd(&come, 1);
        if (before == 1) {
            __threadfence_block();
            out[0] = parts[0] + parts[1];
        }
    }
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, sizeof(int));
    kernel<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
    return EXIT_SUCCESS;
}
