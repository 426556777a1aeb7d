// SPDX-License-Identifier: MIT
// verdict: correct
// The arrays of a helper count for each kernel that calls it, once for each instance of its template, however often it
// is called; those of helpers that a kernel does not call do not count.
#include <cuda_runtime.h>

#include <cstdlib>

template <class T, int N>
__device__ T reversed(T value) {
    __shared__ T tile[N];
    tile[threadIdx.x] = value;
    __syncthreads();
    const T other = tile[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    return other;
}

__device__ int sum_of_ends(int value) {
    __shared__ int first, last[3];
    if (threadIdx.x == 0) {
        first = value;
    } else if (threadIdx.x == blockDim.x - 1) {
        last[2] = value;
    }
    __syncthreads();
    return first + last[2];
}

__global__ void own(int* out) {
    __shared__ int tile[5000];
    tile[threadIdx.x] = out[threadIdx.x];
    out[threadIdx.x] = tile[threadIdx.x] + 1;
}

__global__ void twice(int* out) {
    __shared__ int tile[5000];
    tile[threadIdx.x] = reversed<int, 5000>(out[threadIdx.x] + 1);
    out[threadIdx.x] = reversed<int, 5000>(tile[threadIdx.x]);
}

__global__ void two_types(int* out) {
    const float half = reversed<float, 5000>(0.5F * static_cast<float>(out[threadIdx.x]));
    out[threadIdx.x] = reversed<int, 5000>(static_cast<int>(2 * half)) + sum_of_ends(1);
}

namespace other {
namespace {
__global__ void own(int* out) {
    __shared__ int tile[10];
    tile[threadIdx.x % 10] = 1;
    out[threadIdx.x] = 1;
}
}  // namespace
}  // namespace other

template <class Kernel>
bool takes(Kernel* kernel, std::size_t bytes, int blocks) {
    cudaFuncAttributes attributes;
    int resident = 0;
    return cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess && attributes.sharedSizeBytes == bytes &&
           cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, 64, 0) == cudaSuccess && resident == blocks;
}

int main() {
    // A multiprocessor has 233,472 bytes, and a block takes 1,024 more than it asks for; there are 16 at most.
    if (!takes(own, 20000, 11) || !takes(twice, 40000, 5) || !takes(two_types, 40016, 5) || !takes(other::own, 40, 16)) {
        return EXIT_FAILURE;
    }
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(out, 0, 64 * sizeof(int));
    own<<<1, 64>>>(out);
    twice<<<1, 64>>>(out);
    two_types<<<1, 64>>>(out);
    int host[64];
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    return host[5] == 4 ? EXIT_SUCCESS : EXIT_FAILURE;
}
