// SPDX-License-Identifier: MIT
#include "checker/simt/tests/objects/graph_kernels.h"

#include <cooperative_groups.h>

namespace {

__global__ void add(int* out, int value) {
    out[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

__global__ void count_blocks(int* out) {
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        out[0] = static_cast<int>(gridDim.x);
    }
}

}  // namespace

void* add_kernel() {
    return reinterpret_cast<void*>(add);
}

void* grid_kernel() {
    return reinterpret_cast<void*>(count_blocks);
}
