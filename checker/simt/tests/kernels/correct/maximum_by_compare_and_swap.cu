// SPDX-License-Identifier: MIT
// verdict: correct
// A maximum of floats by compare-and-swap in shared memory.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int most;
    if (threadIdx.x == 0) {
        most = __float_as_int(-1.0F);
    }
    __syncthreads();
    const float mine = static_cast<float>(threadIdx.x % 50);
    int old = most;
    while (__int_as_float(old) < mine) {
        const int seen = atomicCAS(&most, old, __float_as_int(mine));
        if (seen == old) {
            break;
        }
        old = seen;
    }
    __syncthreads();
    out[threadIdx.x] = static_cast<int>(__int_as_float(most));
}

int main() {
    constexpr int n = 128;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<1, 128>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 49) {
            return EXIT_FAILURE;
        }
    }
}
