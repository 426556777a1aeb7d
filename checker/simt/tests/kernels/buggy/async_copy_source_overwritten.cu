// SPDX-License-Identifier: MIT
// verdict: race global async_copy_source_overwritten.cu:11 async_copy_source_overwritten.cu:13
// Each thread writes what its own copy still has to read.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<4>(&tile[i], &out[i]);
    ptx::cp_async_commit();
    out[i] = in[i];
    ptx::cp_async_wait<0>();
    out[i] += tile[i];
}

int main() { return run<64>([](int* out, const int* in) { kernel<<<1, 64>>>(out, in); }); }
