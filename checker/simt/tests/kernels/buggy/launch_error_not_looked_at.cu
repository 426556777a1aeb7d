// SPDX-License-Identifier: MIT
// verdict: bad_launch launch_error_not_looked_at.cu:11
// verdict: unchecked_error launch_error_not_looked_at.cu:11
// A grid of no blocks, and nobody looks.
#include <cuda_runtime.h>

__global__ void nothing() {}

int main() {
    const int n = 0;
    nothing<<<(n + 255) / 256, 256>>>();
}
