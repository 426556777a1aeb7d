// SPDX-License-Identifier: MIT
// verdict: correct
// One group holds copies of 4, 8 and 16 bytes, through both paths of the caches, to static and dynamic shared memory.
#include "checker/ptx.h"

#include <cstdlib>

__device__ alignas(16) int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};

__global__ void gather(int* out, const int* in) {
    extern __shared__ int4 wide[];
    __shared__ int2 pairs[32];
    __shared__ int cells[32];
    __shared__ alignas(16) int constants[8];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<16>(&wide[i], &in[4 * i]);
    ptx::cp_async<8>(&pairs[i], &in[128 + 2 * i]);
    ptx::cp_async<4>(&cells[i], &in[192 + i]);
    if (i < 2) {
        ptx::cp_async<16, ptx::Cache::ca>(&constants[4 * i], &table[4 * i]);
    }
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    __syncthreads();
    const int j = 31 - i;
    out[i] = wide[j].x + wide[j].w + pairs[j].y + cells[j] + constants[j % 8];
}

int main() {
    constexpr int n = 256;
    int host[n];
    for (int i = 0; i < n; i++) { host[i] = i; }
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, n * sizeof(int));
    gather<<<1, 32, 32 * sizeof(int4)>>>(out, in);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i < 32 ? 11 * (31 - i) + 3 + 129 + 192 + (31 - i) % 8 + 1 : 0)) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
