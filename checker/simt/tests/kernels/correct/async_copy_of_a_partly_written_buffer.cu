// SPDX-License-Identifier: MIT
// verdict: correct
// What nobody has written may be copied with the rest, as long as nobody reads the copy of it.
#include "checker/ptx.h"

#include <cstdlib>

__global__ void use(int* out, const int* in, int used) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<4>(&tile[i], &in[i]);
    ptx::cp_async_wait_all();
    __syncthreads();
    out[i] = i < used ? tile[used - 1 - i] : 0;
}

int main() {
    constexpr int n = 64, used = 40;
    int host[n];
    for (int i = 0; i < n; i++) { host[i] = i; }
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, host, used * sizeof(int), cudaMemcpyHostToDevice);
    use<<<1, n>>>(out, in, used);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i < used ? used - 1 - i : 0)) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
