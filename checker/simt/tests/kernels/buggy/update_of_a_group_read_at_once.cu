// SPDX-License-Identifier: MIT
// verdict: race shared update_of_a_group_read_at_once.cu:21 update_of_a_group_read_at_once.cu:22
// reduce_update_async() changes the sum by one thread, for which the others do not wait.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cuda/atomic>

namespace cg = cooperative_groups;

__global__ void total(int* out) {
    __shared__ int sum;
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    if (threadIdx.x == 0) {
        sum = 0;
    }
    block.sync();
    using Sum = cuda::atomic_ref<int, cuda::thread_scope_block>;
    const int i = static_cast<int>(threadIdx.x);
    cg::reduce_update_async(warp, Sum(sum), i, cg::plus<int>());
    out[threadIdx.x] = sum;
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    total<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
