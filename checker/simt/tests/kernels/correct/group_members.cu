// SPDX-License-Identifier: MIT
// verdict: correct
// Ranks, sizes and indices of every kind of group, worked out by hand for a grid of 2×3 blocks of 8×4×3 threads.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>

namespace cg = cooperative_groups;

__device__ int wrong;

__device__ void expect(int line, long long got, long long wanted) {
    if (got != wanted) {
        printf("line %d, thread (%d, %d, %d): got %lld, wanted %lld\n", line, static_cast<int>(threadIdx.x),
               static_cast<int>(threadIdx.y), static_cast<int>(threadIdx.z), got, wanted);
        atomicAdd(&wrong, 1);
    }
}

__global__ void check() {
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y), z = static_cast<int>(threadIdx.z);
    const int rank = x + 8 * y + 32 * z;
    const int block_rank = static_cast<int>(blockIdx.x + 2 * blockIdx.y);

    const cg::thread_block block = cg::this_thread_block();
    expect(__LINE__, block.thread_rank(), rank);
    expect(__LINE__, block.size(), 96);
    expect(__LINE__, block.num_threads(), 96);
    expect(__LINE__, block.group_index().x, blockIdx.x);
    expect(__LINE__, block.group_index().y, blockIdx.y);
    expect(__LINE__, block.thread_index().y, y);
    expect(__LINE__, block.thread_index().z, z);
    expect(__LINE__, block.dim_threads().x, 8);
    expect(__LINE__, block.dim_threads().y, 4);
    expect(__LINE__, block.dim_threads().z, 3);
    expect(__LINE__, block.group_dim().z, 3);
    expect(__LINE__, cg::thread_rank(block), rank);
    expect(__LINE__, cg::group_size(block), 96);
    block.sync();
    cg::sync(block);

    const cg::grid_group grid = cg::this_grid();
    expect(__LINE__, grid.is_valid(), 0);
    expect(__LINE__, static_cast<long long>(grid.size()), 576);
    expect(__LINE__, static_cast<long long>(grid.num_threads()), 576);
    expect(__LINE__, static_cast<long long>(grid.thread_rank()), 96 * block_rank + rank);
    expect(__LINE__, static_cast<long long>(grid.num_blocks()), 6);
    expect(__LINE__, static_cast<long long>(grid.block_rank()), block_rank);
    expect(__LINE__, grid.dim_blocks().x, 2);
    expect(__LINE__, grid.dim_blocks().y, 3);
    expect(__LINE__, grid.group_dim().y, 3);
    expect(__LINE__, grid.block_index().y, blockIdx.y);

    const auto warp = cg::tiled_partition<32>(block);
    expect(__LINE__, warp.thread_rank(), rank % 32);
    expect(__LINE__, warp.size(), 32);
    expect(__LINE__, warp.num_threads(), 32);
    expect(__LINE__, warp.meta_group_rank(), z);
    expect(__LINE__, warp.meta_group_size(), 3);
    warp.sync();
    const auto eight = cg::tiled_partition<8>(block);
    expect(__LINE__, eight.thread_rank(), x);
    expect(__LINE__, eight.meta_group_rank(), y + 4 * z);
    expect(__LINE__, eight.meta_group_size(), 12);
    const auto four = cg::tiled_partition<4>(warp);
    expect(__LINE__, four.thread_rank(), x % 4);
    expect(__LINE__, four.meta_group_rank(), x / 4 + 2 * y);
    expect(__LINE__, four.meta_group_size(), 8);
    const cg::thread_block_tile<4> plain = four;
    expect(__LINE__, plain.meta_group_rank(), x / 4 + 2 * y);
    expect(__LINE__, cg::tiled_partition<1>(eight).thread_rank(), 0);
    expect(__LINE__, cg::tiled_partition<2>(eight).meta_group_size(), 4);
    expect(__LINE__, cg::tiled_partition<16>(block).meta_group_rank(), rank / 16);
    expect(__LINE__, cg::this_thread().size(), 1);
    cg::sync(four);

    const cg::thread_group anything = cg::tiled_partition(block, 16);
    expect(__LINE__, static_cast<long long>(anything.size()), 16);
    expect(__LINE__, static_cast<long long>(anything.thread_rank()), rank % 16);
    anything.sync();
    const cg::thread_group whole = block;
    expect(__LINE__, static_cast<long long>(whole.thread_rank()), rank);
    expect(__LINE__, static_cast<long long>(whole.size()), 96);
    whole.sync();

    const cg::coalesced_group together = cg::coalesced_threads();
    expect(__LINE__, together.size(), 32);
    expect(__LINE__, together.thread_rank(), rank % 32);
    expect(__LINE__, together.meta_group_rank(), 0);
    expect(__LINE__, together.meta_group_size(), 1);
    together.sync();
    if (x % 2 == 1) {
        const cg::coalesced_group odd = cg::coalesced_threads();
        expect(__LINE__, odd.num_threads(), 16);
        expect(__LINE__, odd.thread_rank(), rank % 32 / 2);
        odd.sync();
    }
}

int main() {
    check<<<dim3(2, 3), dim3(8, 4, 3)>>>();
    int host = -1;
    cudaMemcpyFromSymbol(&host, wrong, sizeof host);
    return host == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
