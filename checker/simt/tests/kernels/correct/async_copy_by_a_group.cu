// SPDX-License-Identifier: MIT
// verdict: correct
// cg::memcpy_async shares a copy among the threads of a group; wait and wait_prior end with the group's barrier. What
// does not go from global to shared memory is copied at once.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include "checker/simt/tests/run.h"

namespace cg = cooperative_groups;

__global__ void reverse(int* out, const int* in) {
    __shared__ int tile[2][128];
    __shared__ char bytes[37];
    const cg::thread_block block = cg::this_thread_block();
    const int i = static_cast<int>(block.thread_rank());
    cg::memcpy_async(block, tile[0], in, 128 * sizeof(int));
    cg::memcpy_async(block, tile[1], 128, in + 128, 200);
    cg::wait_prior<1>(block);
    const int first = tile[0][127 - i];
    cg::wait(block);
    out[i] = first;
    out[128 + i] = tile[1][127 - i];

    cg::memcpy_async(block, bytes, reinterpret_cast<const char*>(in) + 4, sizeof bytes);
    cg::wait(block);
    const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const int base = i / 32 * 32;
    cg::memcpy_async(warp, &tile[0][base], in + base, 32 * sizeof(int));
    cg::wait(warp);
    out[256 + i] = tile[0][base + 31 - i % 32] + (i == 0 ? bytes[36] : 0);
    cg::memcpy_async(warp, out + 384 + base, in + base, 32 * sizeof(int));
}

int main() {
    return run<512>([](int* out, const int* in) { reverse<<<1, 128>>>(out, in); }, [](int i) {
        return i < 128   ? 127 - i
               : i < 256 ? 383 - i
               : i < 384 ? (i - 256) / 32 * 32 + 31 - i % 32 + (i == 256 ? 10 : 0)
                         : i - 384;
    });
}
