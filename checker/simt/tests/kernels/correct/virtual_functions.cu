// SPDX-License-Identifier: MIT
// verdict: correct
// Objects with virtual functions that a kernel constructs in the device's memory, for a later kernel.
#include <cuda_runtime.h>

#include <cstdlib>
#include <new>

struct Shape {
    __device__ virtual int area() const = 0;
};
struct Square : Shape {
    int side;
    __device__ explicit Square(int side_) : side(side_) {}
    __device__ int area() const override { return side * side; }
};
struct Strip : Shape {
    int length;
    __device__ explicit Strip(int length_) : length(length_) {}
    __device__ int area() const override { return length; }
};

__global__ void make(char* memory, Shape** shapes) {
    const int i = static_cast<int>(threadIdx.x);
    void* place = memory + 32 * i;
    shapes[i] = i % 2 == 0 ? static_cast<Shape*>(new (place) Square(i)) : new (place) Strip(i);
}

__global__ void measure(Shape* const* shapes, int* areas) {
    areas[threadIdx.x] = shapes[threadIdx.x]->area();
}

int main() {
    constexpr int n = 64;
    char* memory = nullptr;
    Shape** shapes = nullptr;
    int* areas = nullptr;
    int got[n];
    cudaMalloc(&memory, 32 * n);
    cudaMalloc(&shapes, n * sizeof(Shape*));
    cudaMalloc(&areas, sizeof got);
    make<<<1, n>>>(memory, shapes);
    measure<<<1, n>>>(shapes, areas);
    cudaMemcpy(got, areas, sizeof got, cudaMemcpyDeviceToHost);
    cudaFree(memory);
    cudaFree(shapes);
    cudaFree(areas);
    for (int i = 0; i < n; i++) {
        if (got[i] != (i % 2 == 0 ? i * i : i)) {
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}
