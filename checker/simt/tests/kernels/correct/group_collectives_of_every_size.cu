// SPDX-License-Identifier: MIT
// verdict: correct
// What tiles of 1, 2, 4, … 1,024 threads make of their values, against what is worked out by hand for rank r of n.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>
#include <cstdlib>

namespace cg = cooperative_groups;

__device__ int wrong;

__device__ void expect(int line, int size, long long got, long long wanted) {
    if (got != wanted) {
        printf("line %d, a tile of %d, thread %d: got %lld, wanted %lld\n", line, size, static_cast<int>(threadIdx.x),
               got, wanted);
        atomicAdd(&wrong, 1);
    }
}

// 8 bytes, the most that larger tiles exchange; and 32, the most that smaller ones do.
struct SumAndCount {
    int sum, count;
};
struct Add {
    __device__ SumAndCount operator()(const SumAndCount& a, const SumAndCount& b) const {
        return {a.sum + b.sum, a.count + b.count};
    }
};
struct Extremes {
    double least, greatest, sum;
    long long count;
};
static_assert(sizeof(Extremes) == 32);

template <int Size, class Tile>
__device__ void reductions(const Tile& tile, int r, int m) {
    constexpr int n = Size;
    const unsigned int bit = 1U << r % 32, bits = n < 32 ? (1U << n % 32) - 1 : ~0U;
    expect(__LINE__, n, cg::reduce(tile, m * n + r, cg::plus<int>()), m * n * n + n * (n - 1) / 2);
    expect(__LINE__, n, cg::reduce(tile, -r, cg::less<int>()), 1 - n);
    expect(__LINE__, n, cg::reduce(tile, 5LL * r, cg::greater<long long>()), 5 * (n - 1));
    expect(__LINE__, n, cg::reduce(tile, bit, cg::bit_or<unsigned int>()), bits);
    expect(__LINE__, n, cg::reduce(tile, ~bit, cg::bit_and<unsigned int>()), ~bits);
    expect(__LINE__, n, cg::reduce(tile, bit, cg::bit_xor<unsigned int>()), n <= 32 ? bits : 0);
    expect(__LINE__, n, static_cast<long long>(8 * cg::reduce(tile, 0.25F * static_cast<float>(r), cg::plus<float>())),
           n * (n - 1));
    const auto larger = [](double a, double b) { return a > b ? a : b; };
    expect(__LINE__, n, static_cast<long long>(2 * cg::reduce(tile, 0.5 * r, larger)), n - 1);
    const SumAndCount all = cg::reduce(tile, SumAndCount{2 * r, 1}, Add());
    expect(__LINE__, n, all.sum, n * (n - 1));
    expect(__LINE__, n, all.count, n);
}

template <int Size, class Tile>
__device__ void scans(const Tile& tile, int r) {
    constexpr int n = Size;
    expect(__LINE__, n, cg::inclusive_scan(tile, r), r * (r + 1) / 2);
    expect(__LINE__, n, cg::exclusive_scan(tile, r), r * (r - 1) / 2);
    expect(__LINE__, n, cg::inclusive_scan(tile, r ^ 1, cg::greater<int>()), r % 2 == 0 ? r + 1 : r);
    expect(__LINE__, n, cg::exclusive_scan(tile, r + 1, cg::greater<int>()), r);
    expect(__LINE__, n, static_cast<long long>(2 * cg::inclusive_scan(tile, 0.5F)), r + 1);
    const SumAndCount with = cg::inclusive_scan(tile, SumAndCount{r, 1}, Add());
    const SumAndCount before = cg::exclusive_scan(tile, SumAndCount{r, 1}, Add());
    expect(__LINE__, n, with.sum, r * (r + 1) / 2);
    expect(__LINE__, n, with.count, r + 1);
    expect(__LINE__, n, before.sum, r * (r - 1) / 2);
    expect(__LINE__, n, before.count, r);
    // The thread's own operand is the first one.
    expect(__LINE__, n, cg::inclusive_scan(tile, 7 * r, [](int own, int) { return own; }), 7 * r);
}

template <int Size, class Tile>
__device__ void votes(const Tile& tile, int r, int m, int* calls) {
    constexpr int n = Size;
    expect(__LINE__, n, tile.shfl(r, n - 1), n - 1);
    expect(__LINE__, n, tile.shfl(r, n / 3), n / 3);
    expect(__LINE__, n, tile.any(r == n - 1), 1);
    expect(__LINE__, n, tile.any(r == n), 0);
    expect(__LINE__, n, tile.all(r < n), 1);
    expect(__LINE__, n, tile.all(r > 0), 0);
    expect(__LINE__, n, tile.meta_group_rank(), m);
    expect(__LINE__, n, tile.meta_group_size(), static_cast<long long>(blockDim.x) / n);
    cg::invoke_one(
        tile, [&](int by) { atomicAdd(calls, by); }, 3);
    const int told = cg::invoke_one_broadcast(tile, [&] { return m * n + r; });
    expect(__LINE__, n, told / n, m);
    expect(__LINE__, n, tile.shfl(told, 0), told);
    if constexpr (Size > 1) {  // its two halves
        constexpr int h = Size / 2;
        const auto half = cg::tiled_partition<h>(tile);
        expect(__LINE__, n, half.meta_group_rank(), r / h);
        expect(__LINE__, n, half.meta_group_size(), 2);
        expect(__LINE__, n, cg::reduce(half, r, cg::plus<int>()), r / h * h * h + h * (h - 1) / 2);
    }
}

template <int Size, class Tile>
__device__ void within_a_warp(const Tile& tile, int r) {
    constexpr int n = Size;
    constexpr unsigned int all = Size == 32 ? ~0U : (1U << Size % 32) - 1;
    expect(__LINE__, n, tile.shfl_up(r, 3), r < 3 ? r : r - 3);
    expect(__LINE__, n, tile.shfl_down(r, 2), r + 2 < n ? r + 2 : r);
    expect(__LINE__, n, tile.shfl_xor(r, n / 2), r ^ n / 2);
    expect(__LINE__, n, tile.ballot(r % 2 == 0), all & 0x55555555U);
    expect(__LINE__, n, tile.match_any(r % 2), r % 2 == 0 ? all & 0x55555555U : all & 0xaaaaaaaaU);
    int same = -1;
    expect(__LINE__, n, tile.match_all(r / n, same), all);
    expect(__LINE__, n, same, 1);
    const Extremes both = cg::reduce(tile, Extremes{-1.0 * r, 3.0 * r, 0.5 * r, 1}, [](Extremes a, Extremes b) {
        return Extremes{a.least < b.least ? a.least : b.least, a.greatest > b.greatest ? a.greatest : b.greatest,
                        a.sum + b.sum, a.count + b.count};
    });
    expect(__LINE__, n, static_cast<long long>(both.least), 1 - n);
    expect(__LINE__, n, static_cast<long long>(both.greatest), 3 * (n - 1));
    expect(__LINE__, n, static_cast<long long>(4 * both.sum), n * (n - 1));
    expect(__LINE__, n, both.count, n);

    const auto thirds = cg::labeled_partition(tile, r % 3);
    expect(__LINE__, n, thirds.num_threads(), (n - r % 3 + 2) / 3);
    expect(__LINE__, n, thirds.thread_rank(), r / 3);
    expect(__LINE__, n, thirds.meta_group_rank(), r % 3);
    expect(__LINE__, n, thirds.meta_group_size(), n < 3 ? n : 3);
    const int of_third = (n - r % 3 + 2) / 3;
    expect(__LINE__, n, cg::reduce(thirds, r, cg::plus<int>()), of_third * (r % 3) + 3 * of_third * (of_third - 1) / 2);
    expect(__LINE__, n, cg::exclusive_scan(thirds, 2), 2 * (r / 3));
    const bool lower = r < n / 2;
    const auto half = cg::binary_partition(tile, lower);
    expect(__LINE__, n, half.num_threads(), n == 1 ? 1 : n / 2);
    expect(__LINE__, n, half.meta_group_rank(), lower ? 1 : 0);
    expect(__LINE__, n, half.meta_group_size(), n == 1 ? 1 : 2);
    // Where all say the same, it is one group.
    const auto whole = cg::labeled_partition(tile, r < n);
    expect(__LINE__, n, whole.num_threads(), n);
    expect(__LINE__, n, whole.meta_group_rank(), 0);
    expect(__LINE__, n, whole.meta_group_size(), 1);
}

template <int Size>
__global__ void check() {
    __shared__ int calls;
    __shared__ cg::block_tile_memory<1024> memory;
    const auto block = cg::this_thread_block(memory);
    if (threadIdx.x == 0) {
        calls = 0;
    }
    block.sync();
    const auto tile = cg::tiled_partition<Size>(block);
    const int r = static_cast<int>(threadIdx.x) % Size, m = static_cast<int>(threadIdx.x) / Size;
    reductions<Size>(tile, r, m);
    scans<Size>(tile, r);
    votes<Size>(tile, r, m, &calls);
    if constexpr (Size <= 32) {
        within_a_warp<Size>(tile, r);
    }
    block.sync();
    expect(__LINE__, Size, calls, 3 * static_cast<long long>(blockDim.x) / Size);
}

template <int Size>
void check_tiles() {
    constexpr int threads = Size < 32 ? 64 : Size < 512 ? 2 * Size : Size;
    check<Size><<<1, threads>>>();
}
template <int... Sizes>
void check_all() {
    (check_tiles<Sizes>(), ...);
}

int main() {
    check_all<1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024>();
    int host = -1;
    cudaMemcpyFromSymbol(&host, wrong, sizeof host);
    return host == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
