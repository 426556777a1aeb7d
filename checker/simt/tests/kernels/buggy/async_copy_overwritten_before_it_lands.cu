// SPDX-License-Identifier: MIT
// verdict: race shared async_copy_overwritten_before_it_lands.cu:11 async_copy_overwritten_before_it_lands.cu:14
// The tail is set to 0 while the copy of the whole is on its way.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<4>(&tile[i], &in[i]);
    ptx::cp_async_commit();
    if (i >= 60) {
        tile[i] = 0;
    }
    ptx::cp_async_wait<0>();
    __syncthreads();
    out[i] = tile[63 - i];
}

int main() { return run<64>([](int* out, const int* in) { kernel<<<1, 64>>>(out, in); }); }
