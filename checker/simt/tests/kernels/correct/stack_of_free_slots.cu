// SPDX-License-Identifier: MIT
// verdict: correct
// A list without locks: the head is swapped by compare-and-swap.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out, int n) {
    int* head = out;
    int* next = out + 1;
    const int mine = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) + 1;
    int old = atomicAdd(head, 0);
    while (true) {
        next[mine - 1] = old;
        __threadfence();
        const int seen = atomicCAS(head, old, mine);
        if (seen == old) {
            break;
        }
        old = seen;
    }
    out[1 + n + mine - 1] = 1;
}

int main() {
    constexpr int n = 129;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<2, 32>>>(out, 64);
    kernel<<<1, 1>>>(out, 0);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return host[0] == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
