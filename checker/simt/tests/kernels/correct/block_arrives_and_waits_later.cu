// SPDX-License-Identifier: MIT
// verdict: correct
// A block's barrier in two steps: between them each thread works on what is its own. Some threads have left.
#include <cooperative_groups.h>

#include <cstdlib>
#include <utility>

namespace cg = cooperative_groups;
constexpr int kThreads = 80;

__global__ void reverse(int* out, int threads) {
    __shared__ int tile[2][kThreads];
    const int i = static_cast<int>(threadIdx.x);
    if (i >= threads) {
        return;
    }
    const cg::thread_block block = cg::this_thread_block();
    int sum = 0;
    for (int turn = 0; turn < 5; turn++) {
        tile[turn % 2][i] = i + turn;
        auto token = block.barrier_arrive();
        const int own = sum * 2;
        block.barrier_wait(std::move(token));
        sum = own + tile[turn % 2][threads - 1 - i];
    }
    out[i] = sum;
}

int main() {
    for (const int threads : {kThreads, 70}) {
        int* out = nullptr;
        int host[kThreads];
        cudaMalloc(&out, sizeof host);
        cudaMemset(out, 0, sizeof host);
        reverse<<<2, kThreads>>>(out, threads);
        cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
        cudaFree(out);
        for (int i = 0; i < threads; i++) {
            int sum = 0;
            for (int turn = 0; turn < 5; turn++) { sum = 2 * sum + threads - 1 - i + turn; }
            if (host[i] != sum) {
                return EXIT_FAILURE;
            }
        }
    }
    return EXIT_SUCCESS;
}
