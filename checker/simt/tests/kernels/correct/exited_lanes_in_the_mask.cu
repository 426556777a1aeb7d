// SPDX-License-Identifier: MIT
// verdict: correct
// Lanes that have exited are not waited for, though the mask names them.
#include <cuda_runtime.h>

#include "checker/simt/tests/run.h"

__global__ void vote(int* out) {
    const int lane = static_cast<int>(threadIdx.x);
    if (lane >= 20) {
        return;
    }
    __syncwarp();
    out[lane] = __popc(__ballot_sync(0xffffffffU, 1)) + (__all_sync(0xffffffffU, lane < 20) != 0 ? 100 : 0);
}

int main() { return run<20>([](int* out) { vote<<<1, 32>>>(out); }, [](int) { return 120; }); }
