// SPDX-License-Identifier: MIT
// verdict: correct
// A cuda::pipeline of one thread: two stages, waited for in the order in which they were committed.
#include <cuda_runtime.h>
#include <cuda/pipeline>

#include <cstdlib>

__global__ void sums(int* out, const int* in, int tiles) {
    __shared__ alignas(16) int tile[2][256];
    const int first = 4 * static_cast<int>(threadIdx.x);
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    int sums[4] = {};
    for (int t = 0, next = 0; t < tiles; t++) {
        for (; next < tiles && next < t + 2; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[next % 2][first], &in[next * 256 + first], cuda::aligned_size_t<16>(16), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        __syncthreads();
        for (int i = 0; i < 4; i++) { sums[i] += tile[t % 2][255 - first - i]; }
        __syncthreads();
        pipe.consumer_release();
    }
    for (int i = 0; i < 4; i++) { out[first + i] = sums[i]; }
}

__global__ void first_of_two(int* out, const int* in) {
    __shared__ int tile[2];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    for (int i = 0; i < 2; i++) {
        cuda::memcpy_async(&tile[i], &in[i + 1], sizeof(int), pipe);
        pipe.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    out[256] = tile[0];
    pipe.consumer_wait();
    out[257] = tile[1];
}

int main() {
    constexpr int n = 768;
    int host[n];
    for (int i = 0; i < n; i++) { host[i] = i; }
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, host, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, n * sizeof(int));
    sums<<<1, 64>>>(out, in, 3);
    first_of_two<<<1, 1>>>(out, in);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    for (int i = 0; i < n; i++) {
        if (host[i] != (i < 256 ? 3 * (255 - i) + 3 * 256 : i < 258 ? i - 255 : 0)) {
            return EXIT_FAILURE;
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
