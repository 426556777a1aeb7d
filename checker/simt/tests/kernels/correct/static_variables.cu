// SPDX-License-Identifier: MIT
// verdict: correct
// Tickets from static variables of device code: there is one of each on the device, and it keeps its value.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ int ticket() {
    static unsigned int next = 0;
    return static_cast<int>(atomicAdd(&next, 1U));
}
template <class T>
__device__ T counted() {
    static T turns[2] = {5, 6};
    return atomicAdd(&turns[1], T(1));
}

__global__ void take(int* out) {
    static int threads;
    static const int kBase = 1;
    out[ticket()] = kBase;
    counted<int>();
    if (counted<float>() == 6.0F && atomicAdd(&threads, 1) >= 0) {
        out[-1] = 1;  // one thread of all
    }
}

int main() {
    constexpr int kThreads = 64;
    int* out = nullptr;
    cudaMalloc(&out, (1 + 2 * kThreads) * sizeof(int));
    cudaMemset(out, 0, (1 + 2 * kThreads) * sizeof(int));
    take<<<2, kThreads / 2>>>(out + 1);
    take<<<2, kThreads / 2>>>(out + 1);
    int got[1 + 2 * kThreads];
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    cudaFree(out);
    int sum = 0;
    for (const int one : got) { sum += one; }
    return sum == 2 * kThreads + 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
