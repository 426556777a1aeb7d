// SPDX-License-Identifier: MIT
//
// c = alpha * a * b + beta * c for a (M, K), b (K, N) and c (M, N), all row-major: kernels with the tiles that published
// measurements name. Which measurement is of which kernel is in published.toml. Sizes are multiples of the tiles. A matmul
// of column-major matrices is the same one with a and b, M and N exchanged.
#include <cuda_runtime.h>

#include "checker/estimate/published/kernels.h"

namespace published {
namespace {

// ---- one thread per output ----------------------------------------------------------------------------------------------

// The lanes of a warp have neighbouring rows: their loads of a lie K floats apart, and their load of b is one float.
__global__ void lanes_along_rows(int M, int N, int K, float alpha, const float* a, const float* b, float beta,
                                 float* c) {
    const int m = blockIdx.x * blockDim.x + threadIdx.x, n = blockIdx.y * blockDim.y + threadIdx.y;
    if (m < M && n < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++) { sum += a[m * K + k] * b[k * N + n]; }
        c[m * N + n] = alpha * sum + beta * c[m * N + n];
    }
}

// The lanes of a warp have neighbouring columns.
__global__ void lanes_along_columns(int M, int N, int K, float alpha, const float* a, const float* b, float beta,
                                    float* c) {
    const int m = blockIdx.x * 32 + threadIdx.x / 32, n = blockIdx.y * 32 + threadIdx.x % 32;
    if (m < M && n < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++) { sum += a[m * K + k] * b[k * N + n]; }
        c[m * N + n] = alpha * sum + beta * c[m * N + n];
    }
}

// A tile of either matrix in shared memory, kTile by kTile floats. kTurnedA, kTurnedB: the other way round than in global
// memory, so that a warp stores its floats kTile apart, all of them in one bank; of b it then loads them so, too.
template <int kTile, bool kTurnedA = false, bool kTurnedB = false>
__global__ void __launch_bounds__(kTile* kTile)
    shared_tiles(int M, int N, int K, float alpha, const float* a, const float* b, float beta, float* c) {
    __shared__ float a_tile[kTile * kTile], b_tile[kTile * kTile];
    const int x = threadIdx.x % kTile, y = threadIdx.x / kTile;
    const int m = blockIdx.x * kTile + y, n = blockIdx.y * kTile + x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += kTile) {
        a_tile[kTurnedA ? x * kTile + y : y * kTile + x] = a[m * K + k0 + x];
        b_tile[kTurnedB ? x * kTile + y : y * kTile + x] = b[(k0 + y) * N + n];
        __syncthreads();
        for (int k = 0; k < kTile; k++) {
            sum += a_tile[kTurnedA ? k * kTile + y : y * kTile + k] * b_tile[kTurnedB ? x * kTile + k : k * kTile + x];
        }
        __syncthreads();
    }
    c[m * N + n] = alpha * sum + beta * c[m * N + n];
}

// ---- several outputs per thread -----------------------------------------------------------------------------------------

// kThreadM rows of a column per thread; a block has kM * kN / kThreadM threads and moves a float of each tile with each.
template <int kM, int kN, int kK, int kThreadM>
__global__ void __launch_bounds__(kM* kN / kThreadM)
    column_of_outputs(int M, int N, int K, float alpha, const float* a, const float* b, float beta, float* c) {
    constexpr int kThreads = kM * kN / kThreadM;
    __shared__ float a_tile[kM * kK], b_tile[kK * kN];
    const int x = threadIdx.x % kN, y = threadIdx.x / kN * kThreadM;
    const int m0 = blockIdx.y * kM, n0 = blockIdx.x * kN;
    float sum[kThreadM] = {};
    for (int k0 = 0; k0 < K; k0 += kK) {
        for (int first = 0; first < kM * kK; first += kThreads) {
            const int i = first + threadIdx.x;
            a_tile[i] = a[(m0 + i / kK) * K + k0 + i % kK];
        }
        for (int first = 0; first < kK * kN; first += kThreads) {
            const int i = first + threadIdx.x;
            b_tile[i] = b[(k0 + i / kN) * N + n0 + i % kN];
        }
        __syncthreads();
        for (int k = 0; k < kK; k++) {
            const float of_b = b_tile[k * kN + x];
            for (int i = 0; i < kThreadM; i++) { sum[i] += a_tile[(y + i) * kK + k] * of_b; }
        }
        __syncthreads();
    }
    for (int i = 0; i < kThreadM; i++) {
        float* out = c + (m0 + y + i) * N + n0 + x;
        *out = alpha * sum[i] + beta * *out;
    }
}

__device__ void to_array(float* to, float4 x) {
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
    to[3] = x.w;
}

__device__ float4 scaled(float alpha, const float* sum, float beta, float4 old) {
    return make_float4(alpha * sum[0] + beta * old.x, alpha * sum[1] + beta * old.y, alpha * sum[2] + beta * old.z,
                       alpha * sum[3] + beta * old.w);
}

// How b's tile lies in shared memory: row by row; rows of 5 floats more; or so that the kThreadN columns of a thread are
// kN / kThreadN floats apart, and neighbouring threads' side by side.
enum class Layout { rows, padded, interleaved };

// kThreadM by kThreadN outputs per thread. kTurned: a's tile lies in shared memory channel by channel. kVector: global memory is
// accessed by float4, and shared memory too where four neighbours lie side by side there. kPadA floats follow each channel of a.
template <int kM, int kN, int kK, int kThreadM, int kThreadN, bool kTurned, bool kVector, Layout kLayout = Layout::rows,
          int kPadA = 0>
__global__ void __launch_bounds__(kM* kN / (kThreadM * kThreadN))
    square_of_outputs(int M, int N, int K, float alpha, const float* a, const float* b, float beta, float* c) {
    constexpr int kThreads = kM * kN / (kThreadM * kThreadN), kAcross = kN / kThreadN;
    constexpr int kWidth = kLayout == Layout::padded ? kN + 5 : kN, kDepth = kM + kPadA;
    __shared__ __align__(16) float a_tile[kDepth * kK];
    __shared__ __align__(16) float b_tile[kK * kWidth];
    const int thread = threadIdx.x, x = thread % kAcross, y = thread / kAcross;
    const int m0 = blockIdx.y * kM, n0 = blockIdx.x * kN;
    a += m0 * K;
    b += n0;
    c += (m0 + y * kThreadM) * N + n0 + x * kThreadN;
    float sum[kThreadM][kThreadN] = {};
    float of_a[kThreadM], of_b[kThreadN];
    for (int k0 = 0; k0 < K; k0 += kK) {
        if constexpr (kVector) {
            for (int first = 0; first < kM * kK / 4; first += kThreads) {
                const int m = (first + thread) / (kK / 4), k = (first + thread) % (kK / 4) * 4;
                const float4 x4 = *reinterpret_cast<const float4*>(&a[m * K + k]);
                if constexpr (kTurned) {
                    a_tile[k * kDepth + m] = x4.x;
                    a_tile[(k + 1) * kDepth + m] = x4.y;
                    a_tile[(k + 2) * kDepth + m] = x4.z;
                    a_tile[(k + 3) * kDepth + m] = x4.w;
                } else {
                    *reinterpret_cast<float4*>(&a_tile[m * kK + k]) = x4;
                }
            }
            for (int first = 0; first < kK * kN / 4; first += kThreads) {
                const int k = (first + thread) / (kN / 4), n = (first + thread) % (kN / 4) * 4;
                const float4 x4 = *reinterpret_cast<const float4*>(&b[k * N + n]);
                if constexpr (kLayout == Layout::rows) {
                    *reinterpret_cast<float4*>(&b_tile[k * kN + n]) = x4;
                } else if constexpr (kLayout == Layout::padded) {
                    b_tile[k * kWidth + n] = x4.x;
                    b_tile[k * kWidth + n + 1] = x4.y;
                    b_tile[k * kWidth + n + 2] = x4.z;
                    b_tile[k * kWidth + n + 3] = x4.w;
                } else {
                    float* to = &b_tile[(k * kThreadN + n % kThreadN) * kAcross + n / kThreadN];
                    to[0] = x4.x;
                    to[kAcross] = x4.y;
                    to[2 * kAcross] = x4.z;
                    to[3 * kAcross] = x4.w;
                }
            }
        } else {
            for (int first = 0; first < kM * kK; first += kThreads) {
                const int m = (first + thread) / kK, k = (first + thread) % kK;
                a_tile[kTurned ? k * kDepth + m : m * kK + k] = a[m * K + k];
            }
            for (int first = 0; first < kK * kN; first += kThreads) {
                const int k = (first + thread) / kN, n = (first + thread) % kN;
                b_tile[k * kN + n] = b[k * N + n];
            }
        }
        __syncthreads();
        a += kK;
        b += kK * N;
        for (int k = 0; k < kK; k++) {
            if constexpr (kTurned && kVector && kThreadM % 4 == 0) {
                for (int i = 0; i < kThreadM; i += 4) {
                    to_array(&of_a[i], *reinterpret_cast<const float4*>(&a_tile[k * kDepth + y * kThreadM + i]));
                }
            } else {
                for (int i = 0; i < kThreadM; i++) {
                    of_a[i] = a_tile[kTurned ? k * kDepth + y * kThreadM + i : (y * kThreadM + i) * kK + k];
                }
            }
            if constexpr (kVector && kLayout == Layout::rows) {
                for (int j = 0; j < kThreadN; j += 4) {
                    to_array(&of_b[j], *reinterpret_cast<const float4*>(&b_tile[k * kN + x * kThreadN + j]));
                }
            } else {
                for (int j = 0; j < kThreadN; j++) {
                    of_b[j] = b_tile[kLayout == Layout::interleaved ? (k * kThreadN + j) * kAcross + x
                                                                    : k * kWidth + x * kThreadN + j];
                }
            }
            for (int i = 0; i < kThreadM; i++) {
                for (int j = 0; j < kThreadN; j++) { sum[i][j] += of_a[i] * of_b[j]; }
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < kThreadM; i++) {
        if constexpr (kVector) {
            for (int j = 0; j < kThreadN; j += 4) {
                float4* out = reinterpret_cast<float4*>(&c[i * N + j]);
                *out = scaled(alpha, &sum[i][j], beta, *out);
            }
        } else {
            for (int j = 0; j < kThreadN; j++) { c[i * N + j] = alpha * sum[i][j] + beta * c[i * N + j]; }
        }
    }
}

// ---- a tile per warp ----------------------------------------------------------------------------------------------------

// A warp computes kWarpM by kWarpN outputs, in kTimesM by kTimesN pieces that its lanes divide among them by kThreadM by kThreadN.
template <int kM, int kN, int kK, int kWarpM, int kWarpN, int kTimesN, int kThreadM, int kThreadN, bool kVector>
__global__ void __launch_bounds__(kM* kN / (kWarpM * kWarpN) * 32)
    warp_tiles(int M, int N, int K, float alpha, const float* a, const float* b, float beta, float* c) {
    constexpr int kThreads = kM * kN / (kWarpM * kWarpN) * 32;
    constexpr int kTimesM = kWarpM * kWarpN / (32 * kThreadM * kThreadN * kTimesN);
    constexpr int kPieceM = kWarpM / kTimesM, kPieceN = kWarpN / kTimesN;
    __shared__ __align__(16) float a_tile[kK * kM];  // channel by channel
    __shared__ __align__(16) float b_tile[kK * kN];
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    const int warp_m = warp / (kN / kWarpN) * kWarpM, warp_n = warp % (kN / kWarpN) * kWarpN;
    const int lane_m = lane / (kPieceN / kThreadN) * kThreadM, lane_n = lane % (kPieceN / kThreadN) * kThreadN;
    a += blockIdx.y * kM * K;
    b += blockIdx.x * kN;
    c += (blockIdx.y * kM + warp_m + lane_m) * N + blockIdx.x * kN + warp_n + lane_n;
    float sum[kTimesM * kThreadM][kTimesN * kThreadN] = {};
    float of_a[kTimesM * kThreadM], of_b[kTimesN * kThreadN];
    for (int k0 = 0; k0 < K; k0 += kK) {
        if constexpr (kVector) {
            for (int first = 0; first < kM * kK / 4; first += kThreads) {
                const int m = (first + thread) / (kK / 4), k = (first + thread) % (kK / 4) * 4;
                const float4 x4 = *reinterpret_cast<const float4*>(&a[m * K + k]);
                a_tile[k * kM + m] = x4.x;
                a_tile[(k + 1) * kM + m] = x4.y;
                a_tile[(k + 2) * kM + m] = x4.z;
                a_tile[(k + 3) * kM + m] = x4.w;
            }
            for (int first = 0; first < kK * kN / 4; first += kThreads) {
                const int k = (first + thread) / (kN / 4), n = (first + thread) % (kN / 4) * 4;
                *reinterpret_cast<float4*>(&b_tile[k * kN + n]) = *reinterpret_cast<const float4*>(&b[k * N + n]);
            }
        } else {
            for (int first = 0; first < kM * kK; first += kThreads) {
                const int m = (first + thread) / kK, k = (first + thread) % kK;
                a_tile[k * kM + m] = a[m * K + k];
            }
            for (int first = 0; first < kK * kN; first += kThreads) {
                const int k = (first + thread) / kN, n = (first + thread) % kN;
                b_tile[k * kN + n] = b[k * N + n];
            }
        }
        __syncthreads();
        a += kK;
        b += kK * N;
        for (int k = 0; k < kK; k++) {
            for (int piece = 0; piece < kTimesM; piece++) {
                const float* from = &a_tile[k * kM + warp_m + piece * kPieceM + lane_m];
                if constexpr (kVector) {
                    for (int i = 0; i < kThreadM; i += 4) {
                        to_array(&of_a[piece * kThreadM + i], *reinterpret_cast<const float4*>(from + i));
                    }
                } else {
                    for (int i = 0; i < kThreadM; i++) { of_a[piece * kThreadM + i] = from[i]; }
                }
            }
            for (int piece = 0; piece < kTimesN; piece++) {
                const float* from = &b_tile[k * kN + warp_n + piece * kPieceN + lane_n];
                if constexpr (kVector) {
                    for (int j = 0; j < kThreadN; j += 4) {
                        to_array(&of_b[piece * kThreadN + j], *reinterpret_cast<const float4*>(from + j));
                    }
                } else {
                    for (int j = 0; j < kThreadN; j++) { of_b[piece * kThreadN + j] = from[j]; }
                }
            }
            for (int i = 0; i < kTimesM * kThreadM; i++) {
                for (int j = 0; j < kTimesN * kThreadN; j++) { sum[i][j] += of_a[i] * of_b[j]; }
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < kTimesM * kThreadM; i++) {
        float* row = c + (i / kThreadM * kPieceM + i % kThreadM) * N;
        for (int piece = 0; piece < kTimesN; piece++) {
            if constexpr (kVector) {
                for (int j = 0; j < kThreadN; j += 4) {
                    float4* out = reinterpret_cast<float4*>(row + piece * kPieceN + j);
                    *out = scaled(alpha, &sum[i][piece * kThreadN + j], beta, *out);
                }
            } else {
                for (int j = 0; j < kThreadN; j++) {
                    float* out = row + piece * kPieceN + j;
                    *out = alpha * sum[i][piece * kThreadN + j] + beta * *out;
                }
            }
        }
    }
}

// ---- copies under way during the products -------------------------------------------------------------------------------

// square_of_outputs with two of each tile in shared memory: the next one's float4s are loaded into registers before the
// products of this one, and stored after them.
template <int kM, int kN, int kK, int kThreadM, int kThreadN>
__global__ void __launch_bounds__(kM* kN / (kThreadM * kThreadN))
    two_stages(int M, int N, int K, float alpha, const float* a, const float* b, float beta, float* c) {
    constexpr int kThreads = kM * kN / (kThreadM * kThreadN), kAcross = kN / kThreadN;
    constexpr int kOfA = kM * kK / 4 / kThreads, kOfB = kK * kN / 4 / kThreads;
    __shared__ __align__(16) float a_tile[2][kK * kM];
    __shared__ __align__(16) float b_tile[2][kK * kN];
    const int thread = threadIdx.x, x = thread % kAcross, y = thread / kAcross;
    a += blockIdx.y * kM * K;
    b += blockIdx.x * kN;
    c += (blockIdx.y * kM + y * kThreadM) * N + blockIdx.x * kN + x * kThreadN;
    float sum[kThreadM][kThreadN] = {};
    float of_a[kThreadM], of_b[kThreadN];
    float4 next_a[kOfA], next_b[kOfB];
    const auto load = [&](int k0) {
        for (int i = 0; i < kOfA; i++) {
            const int at = i * kThreads + thread;
            next_a[i] = *reinterpret_cast<const float4*>(&a[at / (kK / 4) * K + k0 + at % (kK / 4) * 4]);
        }
        for (int i = 0; i < kOfB; i++) {
            const int at = i * kThreads + thread;
            next_b[i] = *reinterpret_cast<const float4*>(&b[(k0 + at / (kN / 4)) * N + at % (kN / 4) * 4]);
        }
    };
    const auto store = [&](int stage) {
        for (int i = 0; i < kOfA; i++) {
            const int at = i * kThreads + thread, m = at / (kK / 4), k = at % (kK / 4) * 4;
            a_tile[stage][k * kM + m] = next_a[i].x;
            a_tile[stage][(k + 1) * kM + m] = next_a[i].y;
            a_tile[stage][(k + 2) * kM + m] = next_a[i].z;
            a_tile[stage][(k + 3) * kM + m] = next_a[i].w;
        }
        for (int i = 0; i < kOfB; i++) {
            *reinterpret_cast<float4*>(&b_tile[stage][(i * kThreads + thread) * 4]) = next_b[i];
        }
    };
    load(0);
    store(0);
    __syncthreads();
    int stage = 0;
    for (int k0 = 0; k0 < K; k0 += kK) {
        if (k0 + kK < K) {
            load(k0 + kK);
        }
        for (int k = 0; k < kK; k++) {
            for (int i = 0; i < kThreadM; i += 4) {
                to_array(&of_a[i], *reinterpret_cast<const float4*>(&a_tile[stage][k * kM + y * kThreadM + i]));
            }
            for (int j = 0; j < kThreadN; j += 4) {
                to_array(&of_b[j], *reinterpret_cast<const float4*>(&b_tile[stage][k * kN + x * kThreadN + j]));
            }
            for (int i = 0; i < kThreadM; i++) {
                for (int j = 0; j < kThreadN; j++) { sum[i][j] += of_a[i] * of_b[j]; }
            }
        }
        if (k0 + kK < K) {
            stage ^= 1;
            store(stage);
            __syncthreads();
        }
    }
    for (int i = 0; i < kThreadM; i++) {
        for (int j = 0; j < kThreadN; j += 4) {
            float4* out = reinterpret_cast<float4*>(&c[i * N + j]);
            *out = scaled(alpha, &sum[i][j], beta, *out);
        }
    }
}

// ---- launches -----------------------------------------------------------------------------------------------------------

using Kernel = void (*)(int, int, int, float, const float*, const float*, float, float*);

void launch(Kernel kernel, dim3 grid, dim3 block, const Problem& p) {
    kernel<<<grid, block>>>(static_cast<int>(p.M), static_cast<int>(p.N), static_cast<int>(p.K), kAlpha, p.a, p.b,
                            kBeta, p.out);
}

dim3 grid_of(long x, long y) {
    return {static_cast<unsigned>(x), static_cast<unsigned>(y)};
}

void rows(const Problem& p) {
    launch(lanes_along_rows, grid_of(p.M / 32, p.N / 32), {32, 32}, p);
}

template <Kernel kKernel>
void squares(const Problem& p) {  // of 32 by 32 outputs, one per thread
    launch(kKernel, grid_of(p.M / 32, p.N / 32), {1024}, p);
}

template <Kernel kKernel, int kM, int kN, int kThreads>
void tiles(const Problem& p) {
    launch(kKernel, grid_of(p.N / kN, p.M / kM), {kThreads}, p);
}

template <int kM, int kN, int kK, int kThreadM>
constexpr auto kColumn = tiles<column_of_outputs<kM, kN, kK, kThreadM>, kM, kN, kM * kN / kThreadM>;
template <int kM, int kN, int kK, int kThreadM, int kThreadN, bool kTurned, bool kVector, Layout kLayout = Layout::rows,
          int kPadA = 0>
constexpr auto kSquare = tiles<square_of_outputs<kM, kN, kK, kThreadM, kThreadN, kTurned, kVector, kLayout, kPadA>, kM,
                               kN, kM * kN / (kThreadM * kThreadN)>;
template <int kM, int kN, int kK, int kWarpM, int kWarpN, int kTimesN, int kThreadM, int kThreadN, bool kVector>
constexpr auto kWarp = tiles<warp_tiles<kM, kN, kK, kWarpM, kWarpN, kTimesN, kThreadM, kThreadN, kVector>, kM, kN,
                             kM * kN / (kWarpM * kWarpN) * 32>;
template <int kM, int kN, int kK, int kThreadM, int kThreadN>
constexpr auto kStages = tiles<two_stages<kM, kN, kK, kThreadM, kThreadN>, kM, kN, kM * kN / (kThreadM * kThreadN)>;

}  // namespace

const std::vector<Published> sgemm = {
    {"lanes along rows", rows},
    {"lanes along columns", squares<lanes_along_columns>},
    {"32x32x32", squares<shared_tiles<32>>},
    {"32x32x32, b turned", squares<shared_tiles<32, false, true>>},
    {"32x32x32, a turned", squares<shared_tiles<32, true>>},
    {"64x64x8, 8x1", kColumn<64, 64, 8, 8>},
    {"128x32x16, 8x1", kColumn<128, 32, 16, 8>},
    {"32x32x32, 1x4, float4 turned", kSquare<32, 32, 32, 1, 4, true, true>},
    {"64x64x8, 8x8", kSquare<64, 64, 8, 8, 8, false, false>},
    {"128x128x8, 8x8", kSquare<128, 128, 8, 8, 8, false, false>},
    {"128x128x16, 8x8", kSquare<128, 128, 16, 8, 8, false, false>},
    {"128x128x16, 8x8, float4", kSquare<128, 128, 16, 8, 8, false, true>},
    {"128x128x16, 8x8, turned", kSquare<128, 128, 16, 8, 8, true, false>},
    {"128x128x8, 8x8, float4 turned", kSquare<128, 128, 8, 8, 8, true, true>},
    {"128x128x16, 8x8, float4 turned", kSquare<128, 128, 16, 8, 8, true, true>},
    {"128x128x8, 8x8, turned padded", kSquare<128, 128, 8, 8, 8, true, false, Layout::rows, 4>},
    {"128x128x8, 8x8, float4 turned padded", kSquare<128, 128, 8, 8, 8, true, true, Layout::rows, 4>},
    {"64x64x16, 4x4, float4 turned", kSquare<64, 64, 16, 4, 4, true, true>},
    {"128x128x8, 8x8, interleaved", kSquare<128, 128, 8, 8, 8, true, true, Layout::interleaved>},
    {"128x128x8, 8x8, padded", kSquare<128, 128, 8, 8, 8, true, true, Layout::padded>},
    {"128x128x16, warp 64x64, 8x4", kWarp<128, 128, 16, 64, 64, 4, 8, 4, true>},
    {"64x128x16, warp 32x64, 4x4", kWarp<64, 128, 16, 32, 64, 1, 4, 4, true>},
    {"128x128x16, warp 64x32, 4x4", kWarp<128, 128, 16, 64, 32, 1, 4, 4, true>},
    {"128x128x16, warp 128x32, 4x8", kWarp<128, 128, 16, 128, 32, 2, 4, 8, true>},
    {"128x128x16, warp 64x32, 8x8", kWarp<128, 128, 16, 64, 32, 1, 8, 8, true>},
    {"128x128x16, warp 64x32, 8x8, scalar", kWarp<128, 128, 16, 64, 32, 1, 8, 8, false>},
    {"128x128x8, warp 64x32, 8x8", kWarp<128, 128, 8, 64, 32, 1, 8, 8, true>},
    {"128x128x8, 8x8, two stages", kStages<128, 128, 8, 8, 8>},
    {"128x128x16, 8x8, two stages", kStages<128, 128, 16, 8, 8>},
};

}  // namespace published
