// SPDX-License-Identifier: MIT
//
// Blocks that are resident at once, with each kind of shared memory.
#include "checker/simt/tests/objects/resident.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

namespace {

constexpr int kWords = 3000;
thread_local int of_the_host = 0;

template <class T>
__device__ T* array_of_template() {
    __shared__ T values[kWords];
    return values;
}

__device__ int value_of(int array, unsigned block) {
    return 100 * (array + 1) + static_cast<int>(block);
}

__global__ void exchange_kernel(SharedSeen* seen, int dynamic_words) {
    __shared__ int fixed[kWords];
    extern __shared__ int dynamic[];
    const cg::grid_group grid = cg::this_grid();
    int* const arrays[kSharedArrays] = {fixed, array_of_template<int>(), dynamic};
    const int last[kSharedArrays] = {kWords - 1, kWords - 1, dynamic_words - 1};
    const unsigned next = (blockIdx.x + 1) % gridDim.x;
    SharedSeen mine[kSharedArrays];
    for (int a = 0; a < kSharedArrays; a++) {
        arrays[a][0] = 0;
        arrays[a][last[a]] = value_of(a, blockIdx.x);
        mine[a].last_offset = static_cast<unsigned>(__cvta_generic_to_shared(&arrays[a][last[a]]));
    }
    grid.sync();
    for (int a = 0; a < kSharedArrays; a++) {
        mine[a].own = arrays[a][last[a]];
        mine[a].others = read_in_block(&arrays[a][last[a]], next);
        mine[a].own_by_offset = *static_cast<int*>(__cvta_shared_to_generic(mine[a].last_offset));
        write_in_block(&arrays[a][0], next, 7000 + value_of(a, blockIdx.x));
    }
    grid.sync();
    for (int a = 0; a < kSharedArrays; a++) {
        mine[a].changed = arrays[a][0];
        seen[blockIdx.x * kSharedArrays + a] = mine[a];
    }
}

__global__ void read_word_100_kernel(int* out, unsigned* arrived) {
    extern __shared__ int dynamic[];
    dynamic[0] = 1;
    const bool last = atomicAdd(arrived, 1U) + 1 == gridDim.x;
    cg::this_grid().sync();
    if (last) {
        *out = dynamic[100];
    }
}

}  // namespace

void exchange_shared(SharedSeen* seen, unsigned blocks, unsigned dynamic_words) {
    int words = static_cast<int>(dynamic_words);
    void* parameters[] = {&seen, &words};
    cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(exchange_kernel), dim3(blocks), dim3(1), parameters,
                                dynamic_words * sizeof(int), nullptr);
}

void read_word_100(int* out, unsigned* arrived, unsigned blocks, unsigned dynamic_words) {
    void* parameters[] = {&out, &arrived};
    cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(read_word_100_kernel), dim3(blocks), dim3(1), parameters,
                                dynamic_words * sizeof(int), nullptr);
}

int host_thread_local() {
    return of_the_host;
}
void set_host_thread_local(int value) {
    of_the_host = value;
}
