// SPDX-License-Identifier: MIT
// verdict: misaligned shared async_copy_to_a_misaligned_row.cu:11
// Rows of 17 elements: every fourth is aligned to 16 bytes.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in) {
    __shared__ alignas(16) int tile[4][17];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<16>(&tile[i / 4][i % 4 * 4], &in[4 * i]);
    ptx::cp_async_wait_all();
    __syncthreads();
    out[i] = tile[i / 4][i % 4];
}

int main() { return run<64>([](int* out, const int* in) { kernel<<<1, 16>>>(out, in); }); }
