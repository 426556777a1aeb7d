// SPDX-License-Identifier: MIT
// verdict: correct
// Pipelines whose threads share a state: all threads fill and use each stage, or some warps fill and the others use.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdlib>
#include <cuda/pipeline>

namespace cg = cooperative_groups;
constexpr int kTile = 64, kStages = 3, kTiles = 10;

__global__ void by_all(const float* in, float* out) {
    __shared__ float tile[kStages][kTile];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
    const auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    float sum = 0;
    for (int use = 0, fill = 0; use < kTiles; use++) {
        for (; fill < kTiles && fill < use + kStages; fill++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[fill % kStages], in + fill * kTile, cuda::aligned_size_t<4>(kTile * 4),
                               pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += tile[use % kStages][kTile - 1 - threadIdx.x];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

__global__ void by_roles(const float* in, float* out) {
    __shared__ float tile[kStages][kTile];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
    const auto block = cg::this_thread_block();
    const bool fills = threadIdx.x >= kTile;
    auto pipe =
        cuda::make_pipeline(block, &state, fills ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    const unsigned lane = threadIdx.x % kTile;
    float sum = 0;
    for (int i = 0; i < kTiles; i++) {
        if (fills) {
            pipe.producer_acquire();
            for (unsigned j = lane; j < kTile; j += blockDim.x - kTile) {
                cuda::memcpy_async(&tile[i % kStages][j], &in[i * kTile + j], sizeof(float), pipe);
            }
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += tile[i % kStages][kTile - 1 - lane];
            pipe.consumer_release();
        }
    }
    if (!fills) {
        out[lane] = sum;
    }
}

int main() {
    float host[kTiles * kTile], got[kTile];
    for (int i = 0; i < kTiles * kTile; i++) { host[i] = static_cast<float>(i % 97); }
    float *in = nullptr, *out = nullptr;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof got);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    bool right = true;
    for (const bool roles : {false, true}) {
        if (roles) {
            by_roles<<<1, kTile + 32>>>(in, out);
        } else {
            by_all<<<1, kTile>>>(in, out);
        }
        cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
        for (int i = 0; i < kTile; i++) {
            float sum = 0;
            for (int t = 0; t < kTiles; t++) { sum += host[t * kTile + kTile - 1 - i]; }
            right = right && got[i] == sum;
        }
    }
    cudaFree(in);
    cudaFree(out);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
