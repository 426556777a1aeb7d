// SPDX-License-Identifier: MIT
// verdict: correct
// Lanes that have exited are not waited for, though the mask names them.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void vote(int* out) {
    const int lane = static_cast<int>(threadIdx.x);
    if (lane >= 20) {
        return;
    }
    __syncwarp();
    out[lane] = __popc(__ballot_sync(0xffffffffU, 1)) + (__all_sync(0xffffffffU, lane < 20) != 0 ? 100 : 0);
}

int main() {
    constexpr int n = 20;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    vote<<<1, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != 120) {
            return EXIT_FAILURE;
        }
    }
}
