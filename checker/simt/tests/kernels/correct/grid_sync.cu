// SPDX-License-Identifier: MIT
// verdict: correct
// All blocks of a cooperative launch wait for each other: each step reads what another block wrote in the step before.
#include <cooperative_groups.h>

#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

// Step s moves every value one block on: after as many steps as there are blocks it is home again.
__global__ void rotate(int* out, int* inp, int steps, int* valid) {
    __shared__ int kept[2];
    const auto grid = cg::this_grid();
    const int i = static_cast<int>(grid.thread_rank());
    const int n = static_cast<int>(grid.num_threads());
    if (threadIdx.x == 0) {
        kept[0] = static_cast<int>(blockIdx.x);
    }
    for (int step = 0; step < steps; step++) {
        out[(i + static_cast<int>(blockDim.x)) % n] = inp[i] + 1;
        grid.sync();
        int* const other = out;
        out = inp;
        inp = other;
    }
    cg::sync(grid);
    if (i == 0) {
        *valid = grid.is_valid() && kept[0] == 0 ? 1 : 0;
    }
}

int main() {
    constexpr int threads = 256;
    int per_multiprocessor = 0, multiprocessors = 0, cooperative = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, rotate, threads, 0);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0);
    if (cooperative != 1) {
        return EXIT_FAILURE;
    }
    int blocks = per_multiprocessor * multiprocessors < 8 ? per_multiprocessor * multiprocessors : 8;
    const int n = blocks * threads;
    int *a = nullptr, *b = nullptr, *valid = nullptr;
    cudaMalloc(&a, static_cast<std::size_t>(n) * sizeof(int));
    cudaMalloc(&b, static_cast<std::size_t>(n) * sizeof(int));
    cudaMalloc(&valid, sizeof(int));
    std::vector<int> host(static_cast<std::size_t>(n));
    for (int i = 0; i < n; i++) { host[static_cast<std::size_t>(i)] = i; }
    cudaMemcpy(a, host.data(), static_cast<std::size_t>(n) * sizeof(int), cudaMemcpyHostToDevice);

    int steps = 2 * blocks;  // even: the result lies where the input lay
    void* arguments[] = {&b, &a, &steps, &valid};
    if (cudaLaunchCooperativeKernel(rotate, blocks, threads, arguments) != cudaSuccess) {
        return EXIT_FAILURE;
    }
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = threads;
    config.attrs = &attribute;
    config.numAttrs = 1;
    if (cudaLaunchKernelEx(&config, rotate, b, a, steps, valid) != cudaSuccess) {
        return EXIT_FAILURE;
    }
    int is_valid = 0;
    cudaMemcpy(&is_valid, valid, sizeof is_valid, cudaMemcpyDeviceToHost);
    cudaMemcpy(host.data(), a, static_cast<std::size_t>(n) * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(a);
    cudaFree(b);
    cudaFree(valid);
    for (int i = 0; i < n; i++) {
        if (host[static_cast<std::size_t>(i)] != i + 2 * steps) {
            return EXIT_FAILURE;
        }
    }
    return is_valid == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
