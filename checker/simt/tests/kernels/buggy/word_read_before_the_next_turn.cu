// SPDX-License-Identifier: MIT
// verdict: race shared word_read_before_the_next_turn.cu:14 word_read_before_the_next_turn.cu:18
// One warp, and __syncwarp() only in the middle of the loop: what a turn writes at its end is read by the next one.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out, int turns) {
    __shared__ int words[32];
    const int t = static_cast<int>(threadIdx.x);
    words[t] = t;
    __syncwarp();
    for (int i = 0; i < turns; i++) {
        const int next = words[(t + 1) % 32];
        // Who comes here has read.
        __syncwarp();
        if (next >= 0) {
            words[t] = next + 1000 * i;
        }
    }
    out[t] = words[t];
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(int));
    kernel<<<1, 32>>>(out, 3);
    cudaDeviceSynchronize();
    cudaFree(out);
    return EXIT_SUCCESS;
}
