// SPDX-License-Identifier: MIT
// verdict: host_pointer reference_to_the_hosts_variable.cu:7
// A kernel's parameter is a reference, and refers to a variable on the host's stack.
#include <cuda_runtime.h>

__global__ void set(int& n) {
    n = 5;
}

int main() {
    int n = 20;
    set<<<1, 1>>>(n);
    cudaDeviceSynchronize();
    return n == 20 ? 0 : 1;
}
