// SPDX-License-Identifier: MIT
// verdict: bad_copy copy_of_a_device_variable_by_its_address.cu:17
// cudaMemcpy gets a __device__ array, which only cudaMemcpyFromSymbol can copy: a GPU says "invalid argument".
#include <cuda_runtime.h>

#include <cstdlib>

__device__ float table[32];

__global__ void fill() {
    table[threadIdx.x] = 1.0F;
}

int main() {
    float host[32];
    fill<<<1, 32>>>();
    const bool refused = cudaMemcpy(host, table, sizeof host, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue;
    const bool copied = cudaMemcpyFromSymbol(host, table, sizeof host) == cudaSuccess && host[31] == 1.0F;
    return cudaGetLastError() == cudaErrorInvalidValue && refused && copied ? EXIT_SUCCESS : EXIT_FAILURE;
}
