// SPDX-License-Identifier: MIT
// verdict: bad_copy async_copy_to_global_memory.cu:12
// A copy back: only global to shared memory goes so.
#include "checker/ptx.h"

#include "checker/simt/tests/run.h"

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[64];
    const int i = static_cast<int>(threadIdx.x);
    tile[i] = in[i];
    ptx::cp_async<4>(&out[i], &tile[i]);
    ptx::cp_async_wait_all();
}

int main() { return run<64>([](int* out, const int* in) { kernel<<<1, 64>>>(out, in); }); }
