// SPDX-License-Identifier: MIT
// verdict: uninitialised shared async_copy_by_a_group_without_a_wait.cu:16
// The group's sync() is a barrier and waits for no copy.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include "checker/simt/tests/run.h"

namespace cg = cooperative_groups;

__global__ void kernel(int* out, const int* in) {
    __shared__ int tile[64];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in, sizeof tile);
    block.sync();
    out[block.thread_rank()] = tile[63 - block.thread_rank()];
}

int main() { return run<64>([](int* out, const int* in) { kernel<<<1, 64>>>(out, in); }); }
