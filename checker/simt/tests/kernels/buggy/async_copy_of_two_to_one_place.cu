// SPDX-License-Identifier: MIT
// verdict: race shared async_copy_of_two_to_one_place.cu:11 async_copy_of_two_to_one_place.cu:11
// Neighbouring threads copy different elements to the same one.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    ptx::cp_async<4>(&tile[i / 2], &in[i]);
    ptx::cp_async_commit();
    __syncthreads();
    ptx::cp_async_wait<0>();
    __syncthreads();
    out[i] = tile[i / 2];
}

int main() { return run<64>([](int* out, const int* in) { kernel<<<1, 64>>>(out, in); }); }
