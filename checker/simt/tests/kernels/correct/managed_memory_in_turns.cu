// SPDX-License-Identifier: MIT
// verdict: correct
// Host and kernel use managed memory in turns, and the host waits each time.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void add(int* out, const int* inp, int value) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = inp[i] + value;
}

int main() {
    int* x = nullptr;
    cudaMallocManaged(&x, 32 * sizeof(int));
    for (int i = 0; i < 32; i++) {
        x[i] = i;
    }
    for (int turn = 0; turn < 3; turn++) {
        add<<<1, 32>>>(x, x, 1);
        cudaDeviceSynchronize();
        for (int i = 0; i < 32; i++) {
            x[i] *= 2;
        }
    }
    const bool right = x[0] == 14 && x[31] == 31 * 8 + 14;
    cudaFree(x);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
