// SPDX-License-Identifier: MIT
// verdict: race shared tile_overwritten_in_the_next_turn.cu:14 tile_overwritten_in_the_next_turn.cu:17
// A loop over tiles with one barrier, where it needs a second one at its end.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(const int* in, int* out, int tiles) {
    __shared__ int tile[64];
    const int t = static_cast<int>(threadIdx.x);
    int sum = 0;
    for (int i = 0; i < tiles; i++) {
        // Another thread may not have read the tile before.
        tile[t] = in[64 * i + t];
        __syncthreads();
        for (int k = 0; k < 64; k++) {
            sum += tile[(t + k) % 64];
        }
    }
    out[t] = sum;
}

int main() {
    constexpr int n = 64, tiles = 4;
    int host[n * tiles];
    int *in = nullptr, *out = nullptr;
    for (int i = 0; i < n * tiles; i++) {
        host[i] = i;
    }
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    kernel<<<1, n>>>(in, out, tiles);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    return EXIT_SUCCESS;
}
