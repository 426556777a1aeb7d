// SPDX-License-Identifier: MIT
// verdict: out_of_bounds shared async_copy_past_end_of_tile.cu:12
// A tile has as many elements as the block has threads, and each thread copies four.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in) {
    __shared__ alignas(16) int tile[16];
    const int first = 4 * static_cast<int>(threadIdx.x);
    int* row = tile;
    ptx::cp_async<16>(row + first, &in[first]);
    ptx::cp_async_wait_all();
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

int main() { return run<64>([](int* out, const int* in) { kernel<<<1, 8>>>(out, in); }); }
