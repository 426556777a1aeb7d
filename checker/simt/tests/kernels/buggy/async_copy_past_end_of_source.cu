// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global async_copy_past_end_of_source.cu:11
// The last row is shorter than the tile, and nothing is said of zeros.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in) {
    __shared__ alignas(16) int tile[64];
    const int first = 4 * static_cast<int>(threadIdx.x);
    ptx::cp_async<16>(&tile[first], &in[16 + first]);
    ptx::cp_async_wait_all();
    out[first] = tile[first];
}

int main() { return run<64>([](int* out, const int* in) { kernel<<<1, 16>>>(out, in); }); }
