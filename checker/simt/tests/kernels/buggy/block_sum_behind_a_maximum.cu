// SPDX-License-Identifier: MIT
// verdict: race shared block_sum_behind_a_maximum.cu:16 called at block_sum_behind_a_maximum.cu:27 block_sum_behind_a_maximum.cu:19 called at block_sum_behind_a_maximum.cu:25
// A block's reduction by warps, used twice: no barrier lies between the reads of the first outcome and the second one's
// writes.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;
constexpr int kWarps = 4;

template <class Op>
__device__ float of_the_block(float value, float* parts, Op op) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    value = cg::reduce(warp, value, op);
    if (warp.thread_rank() == 0) {
        parts[warp.meta_group_rank()] = value;
    }
    __syncthreads();
    return op(op(parts[0], parts[1]), op(parts[2], parts[3]));
}

__global__ void softmax(float* out, const float* inp) {
    __shared__ float parts[kWarps];
    const float x = inp[threadIdx.x];
    const float largest = of_the_block(x, parts, cg::greater<float>());
    const float e = expf(x - largest);
    out[threadIdx.x] = e / of_the_block(e, parts, cg::plus<float>());
}

int main() {
    constexpr int n = 32 * kWarps;
    float host[n];
    for (int i = 0; i < n; i++) { host[i] = static_cast<float>(i % 7); }
    float *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&inp, sizeof host);
    cudaMemcpy(inp, host, sizeof host, cudaMemcpyHostToDevice);
    softmax<<<1, n>>>(out, inp);
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaFree(inp);
}
