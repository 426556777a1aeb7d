// SPDX-License-Identifier: MIT
// verdict: trap trap.cu:8
// The kernel gives up.
#include <cuda_runtime.h>

__global__ void give_up(int n) {
    if (n > 3) {
        __trap();
    }
}

int main() {
    give_up<<<1, 1>>>(4);
    cudaDeviceSynchronize();
}
