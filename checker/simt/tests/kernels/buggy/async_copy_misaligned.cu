// SPDX-License-Identifier: MIT
// verdict: misaligned global async_copy_misaligned.cu:11
// 16 bytes from an address that is a multiple of 4.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in) {
    __shared__ alignas(16) int tile[64];
    const int first = 4 * static_cast<int>(threadIdx.x);
    ptx::cp_async<16>(&tile[first], &in[first + 1]);
    ptx::cp_async_wait_all();
    out[first] = tile[first];
}

int main() { return run<64>([](int* out, const int* in) { kernel<<<1, 15>>>(out, in); }); }
