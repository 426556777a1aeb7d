// SPDX-License-Identifier: MIT
//
// The toolkit's own occupancy calculator, cuda_occupancy.h, which needs no GPU. A line of input: compute capability as 86,
// a multiprocessor's warps and shared memory, what of it is reserved for each block; threads, registers and shared memory
// of a kernel. A line of output: the resident blocks.
#include <cuda_occupancy.h>

#include <algorithm>
#include <climits>
#include <iostream>

int main() {
    constexpr int kStatic = 48 << 10;  // shared memory beyond it must be dynamic
    int arch, warps, shared, reserved, threads, registers, used;
    while (std::cin >> arch >> warps >> shared >> reserved >> threads >> registers >> used) {
        cudaOccDeviceProp card;
        card.computeMajor = arch / 10;
        card.computeMinor = arch % 10;
        card.maxThreadsPerBlock = 1024;
        card.maxThreadsPerMultiprocessor = 32 * warps;
        card.regsPerBlock = card.regsPerMultiprocessor = 65536;
        card.warpSize = 32;
        card.sharedMemPerBlock = kStatic;
        card.sharedMemPerMultiprocessor = shared;
        card.numSms = 1;
        card.sharedMemPerBlockOptin = shared - reserved;
        card.reservedSharedMemPerBlock = reserved;
        cudaOccFuncAttributes kernel;
        kernel.maxThreadsPerBlock = INT_MAX;
        kernel.numRegs = registers;
        kernel.sharedSizeBytes = std::min(used, kStatic);
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = shared - reserved - kernel.sharedSizeBytes;
        kernel.numBlockBarriers = 1;
        const cudaOccDeviceState state;
        cudaOccResult result;
        const std::size_t dynamic = used - kernel.sharedSizeBytes;
        if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &card, &kernel, &state, threads, dynamic) !=
            CUDA_OCC_SUCCESS) {
            return 1;
        }
        std::cout << result.activeBlocksPerMultiprocessor << '\n';
    }
}
