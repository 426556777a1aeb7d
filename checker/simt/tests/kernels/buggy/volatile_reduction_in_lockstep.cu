// SPDX-License-Identifier: MIT
// verdict: race shared volatile_reduction_in_lockstep.cu:17 volatile_reduction_in_lockstep.cu:17
// The last warp of a reduction trusts volatile, as books from before Volta do: no __syncwarp() orders its lanes.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(const int* in, int* out) {
    __shared__ int cells[128];
    const int t = static_cast<int>(threadIdx.x);
    cells[t] = in[t];
    cells[t + 64] = 0;
    __syncthreads();
    if (t < 32) {
        volatile int* v = cells;
        for (int half = 32; half > 0; half /= 2) {
            v[t] = v[t] + v[t + half];
        }
    }
    if (t == 0) {
        out[0] = cells[0];
    }
}

int main() {
    constexpr int n = 64;
    int host[n];
    int *in = nullptr, *out = nullptr;
    for (int i = 0; i < n; i++) {
        host[i] = i;
    }
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
    kernel<<<1, n>>>(in, out);
    cudaMemcpy(host, out, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    return host[0] == n * (n - 1) / 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
