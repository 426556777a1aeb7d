// SPDX-License-Identifier: MIT
//
// out[c, r] = inp[r, c], three times: from memory to memory, through a tile in shared memory, and through a tile whose
// rows are one float longer. make run FILE=lessons/07_tiled_matmul/transpose.cu
#include <cstdio>
#include <vector>

constexpr int kTile = 32;  // a block moves kTile by kTile floats, a warp kTile of them at a time

// A warp loads a piece of a row of inp, and stores it down a column of out.
__global__ void transpose_straight_kernel(float* out,        // (C, R)
                                          const float* inp,  // (R, C)
                                          int R, int C) {
    const int r = blockIdx.y * kTile + threadIdx.y, c = blockIdx.x * kTile + threadIdx.x;
    if (r < R && c < C) {
        out[c * R + r] = inp[r * C + c];
    }
}

// A warp loads a piece of a row of inp, and stores a piece of a row of out. In between the tile transposes it: it is written
// by rows and read by columns.
template <int kPitch>                                     // floats from one row of the tile to the next
__global__ void transpose_tiled_kernel(float* out,        // (C, R)
                                       const float* inp,  // (R, C)
                                       int R, int C) {
    __shared__ float tile[kTile][kPitch];  // inp[r0 + row, c0 + column]
    const int x = threadIdx.x, y = threadIdx.y, r0 = blockIdx.y * kTile, c0 = blockIdx.x * kTile;
    if (r0 + y < R && c0 + x < C) {
        tile[y][x] = inp[(r0 + y) * C + c0 + x];
    }
    __syncthreads();  // another warp loaded what this one stores
    if (r0 + x < R && c0 + y < C) {
        out[(c0 + y) * R + r0 + x] = tile[x][y];
    }
}

template <class Kernel>
void run(const char* name, Kernel kernel) {
    constexpr int R = 1024, C = 768;
    std::vector<float> host(R * C), turned(R * C);
    for (int i = 0; i < R * C; i++) { host[i] = static_cast<float>(i); }
    const std::size_t bytes = host.size() * sizeof(float);
    float *inp = nullptr, *out = nullptr;
    cudaMalloc(&inp, bytes);
    cudaMalloc(&out, bytes);
    cudaMemcpy(inp, host.data(), bytes, cudaMemcpyHostToDevice);
    kernel<<<dim3((C + kTile - 1) / kTile, (R + kTile - 1) / kTile), dim3(kTile, kTile)>>>(out, inp, R, C);
    const cudaError_t launched = cudaGetLastError();
    cudaMemcpy(turned.data(), out, bytes, cudaMemcpyDeviceToHost);
    cudaFree(inp);
    cudaFree(out);
    int right = 0;
    for (int r = 0; r < R; r++) {
        for (int c = 0; c < C; c++) { right += turned[c * R + r] == host[r * C + c]; }
    }
    std::printf("%-10s %s, %d of %d are right\n", name, cudaGetErrorString(launched), right, R * C);
}

int main() {
    run("straight", transpose_straight_kernel);
    run("pitch 32", transpose_tiled_kernel<kTile>);
    run("pitch 33", transpose_tiled_kernel<kTile + 1>);
}
