// SPDX-License-Identifier: MIT
// verdict: correct
// Structs whose padding is a whole word, at the end or within: written by members, copied whole, in shared memory too.
#include <cuda_runtime.h>

#include <cstdlib>

struct alignas(16) Point {
    float x, y, z;
};
struct Best {
    float value;
    double weight;
};
template <class T>
struct Running {
    T sum;
    int count;
};

__global__ void write(Point* points, Best* best) {
    points[threadIdx.x].x = 1.0F;
    points[threadIdx.x].y = 2.0F;
    points[threadIdx.x].z = 3.0F;
    best[threadIdx.x].value = 4.0F;
    best[threadIdx.x].weight = 5.0;
}

__global__ void copy(Point* to, const Point* from, Best* __restrict__ best, const Best* __restrict__ other) {
    __shared__ Running<double> running[32];
    running[threadIdx.x].sum = from[threadIdx.x].x;
    running[threadIdx.x].count = 1;
    __syncthreads();
    const Running<double> mine = running[31 - threadIdx.x];
    Point point = from[threadIdx.x];
    point.x = static_cast<float>(mine.sum) * static_cast<float>(mine.count);
    to[threadIdx.x] = point;
    best[threadIdx.x] = other[threadIdx.x];
}

int main() {
    Point* points = nullptr;
    Best* best = nullptr;
    cudaMalloc(&points, 64 * sizeof(Point));
    cudaMalloc(&best, 64 * sizeof(Best));
    write<<<1, 32>>>(points, best);
    copy<<<1, 32>>>(points + 32, points, best + 32, best);
    Point point = {};
    Best last = {};
    cudaMemcpy(&point, points + 63, sizeof point, cudaMemcpyDeviceToHost);
    cudaMemcpy(&last, best + 63, sizeof last, cudaMemcpyDeviceToHost);
    cudaFree(points);
    cudaFree(best);
    return point.x == 1 && point.z == 3 && last.value == 4 && last.weight == 5 ? EXIT_SUCCESS : EXIT_FAILURE;
}
