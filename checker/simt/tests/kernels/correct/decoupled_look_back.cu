// SPDX-License-Identifier: MIT
// verdict: correct
// Each block publishes its sum, looks back over the blocks before it, and publishes its prefix.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ unsigned places;

// state[p]: 0 nothing yet, 1 the block's sum is in sums[p], 2 the sum of all up to it in prefixes[p]
__global__ void kernel(int* out, int* sums, int* prefixes, int* state) {
    __shared__ int place, before;
    if (threadIdx.x == 0) {
        place = static_cast<int>(atomicAdd(&places, 1U));
    }
    __syncthreads();
    const int sum = __syncthreads_count(1);
    if (threadIdx.x == 0) {
        sums[place] = sum;
        __threadfence();
        atomicExch(&state[place], 1);
        int total = 0;
        for (int p = place - 1; p >= 0; p--) {
            int seen = 0;
            while ((seen = atomicAdd(&state[p], 0)) == 0) {
            }
            __threadfence();
            total += seen == 2 ? prefixes[p] : sums[p];
            if (seen == 2) {
                break;
            }
        }
        prefixes[place] = total + sum;
        __threadfence();
        atomicExch(&state[place], 2);
        before = total;
    }
    __syncthreads();
    out[place * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)] = before + static_cast<int>(threadIdx.x);
}

int main() {
    constexpr int n = 768;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    int* scratch = nullptr;
    cudaMalloc(&scratch, 3 * 24 * sizeof(int));
    cudaMemset(scratch, 0, 3 * 24 * sizeof(int));
    kernel<<<24, 32>>>(out, scratch, scratch + 24, scratch + 48);
    cudaFree(scratch);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != i) {
            return EXIT_FAILURE;
        }
    }
}
