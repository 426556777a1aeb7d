// SPDX-License-Identifier: MIT
// verdict: race shared one_of_two_lanes_takes_the_lock_without_a_fence.cu:21 one_of_two_lanes_takes_the_lock_without_a_fence.cu:24
// Two lanes of a warp, one lock: lane 3 does not fence, which is wrong only if lane 20 has had the lock.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int locked, number;
    const int t = static_cast<int>(threadIdx.x);
    if (t == 0) {
        locked = number = 0;
    }
    __syncwarp();
    if (t == 3 || t == 20) {
        bool done = false;
        while (!done) {
            if (atomicExch(&locked, 1) == 0) {
                if (t == 3) {
                    // The other one may not have read yet.
                    number = 1;
                } else {
                    __threadfence_block();
                    out[t] = number;
                }
                __threadfence_block();
                atomicExch(&locked, 0);
                done = true;
            }
        }
    }
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(int));
    kernel<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
    return EXIT_SUCCESS;
}
