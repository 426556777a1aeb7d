// SPDX-License-Identifier: MIT
// verdict: race shared async_copy_into_a_tile_still_read.cu:13 async_copy_into_a_tile_still_read.cu:16
// The next copy is issued before all have read the tile that it goes to.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in, int tiles) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    int sum = 0;
    for (int t = 0; t < tiles; t++) {
        ptx::cp_async<4>(&tile[i], &in[t * 64 + i]);
        ptx::cp_async_wait_all();
        __syncthreads();
        sum += tile[63 - i];
    }
    out[i] = sum;
}

int main() { return run<256>([](int* out, const int* in) { kernel<<<1, 64>>>(out, in, 4); }); }
