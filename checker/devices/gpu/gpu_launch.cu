// SPDX-License-Identifier: MIT
#include "checker/devices/gpu/gpu_kernels.cuh"
#include "checker/devices/gpu/gpu_launch.h"

namespace checker {
namespace {

static_assert(kTileBytes == tile_size(4) * sizeof(uint4));

template <class... Args>
unsigned int resident_blocks(void (*kernel)(Args...)) {
    int device = 0;
    int multiprocessors = 0;
    int blocks = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kBlock, 0));
    return static_cast<unsigned int>(blocks * multiprocessors);
}

constexpr float kNeverFloat = 3.4e38F;             // no sum is as large
constexpr std::uint32_t kNeverWord = 0xffffffffU;  // nor this one, of zeros

// Keeps the stream busy for `nanoseconds`, so that what follows is queued before its first kernel starts. One thread.
__global__ void delay_kernel(std::uint64_t nanoseconds) {
    const std::uint64_t begin = global_nanoseconds();
    while (global_nanoseconds() - begin < nanoseconds) {}
}

}  // namespace

void launch_delay(std::uint64_t nanoseconds, cudaStream_t stream) {
    delay_kernel<<<1, 1, 0, stream>>>(nanoseconds);
    check(cudaGetLastError());
}

unsigned int resident_copy_blocks(int loads) {
    return loads == 4 ? resident_blocks(copy_kernel<4>) : resident_blocks(copy_kernel<1>);
}

void launch_copy(void* to, const void* from, std::size_t tiles, CopyWay way, cudaStream_t stream) {
    const auto kernel = way.loads == 4 ? copy_kernel<4> : copy_kernel<1>;
    const std::size_t all = way.loads == 4 ? tiles : 4 * tiles;
    kernel<<<way.blocks, kBlock, 0, stream>>>(static_cast<uint4*>(to), static_cast<const uint4*>(from), all, 1);
    check(cudaGetLastError());
}

void launch_read(std::uint32_t* sum, const void* from, std::size_t tiles, cudaStream_t stream) {
    read_kernel<4><<<resident_blocks(read_kernel<4>), kBlock, 0, stream>>>(sum, static_cast<const uint4*>(from), tiles,
                                                                           1, kNeverWord);
    check(cudaGetLastError());
}

std::size_t fma_threads() {
    return std::size_t{resident_blocks(fma_kernel)} * kBlock;
}

double fma_flop(int rounds) {
    return kFmaFlopPerRound * rounds * static_cast<double>(fma_threads());
}

void launch_fma(float* out, void* clock, int rounds, cudaStream_t stream) {
    fma_kernel<<<resident_blocks(fma_kernel), kBlock, 0, stream>>>(out, static_cast<ClockReading*>(clock), rounds,
                                                                   kNeverFloat, 1);
    check(cudaGetLastError());
}

}  // namespace checker
