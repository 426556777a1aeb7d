// SPDX-License-Identifier: MIT
// verdict: race shared large_tile_beside_another.cu:15 large_tile_beside_another.cu:17
// Tiles of 64 threads wait for their own threads, and read what another tile writes.
#include <cooperative_groups.h>

#include <cstdlib>

namespace cg = cooperative_groups;

__global__ void shift(int* out) {
    __shared__ int numbers[128];
    const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    numbers[threadIdx.x] = 0;
    __syncthreads();
    numbers[threadIdx.x] = static_cast<int>(threadIdx.x);
    tile.sync();
    out[threadIdx.x] = numbers[(threadIdx.x + 64) % 128];
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 128 * sizeof(int));
    shift<<<1, 128>>>(out);
    const bool fine = cudaDeviceSynchronize() == cudaSuccess;
    cudaFree(out);
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
