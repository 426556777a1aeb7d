// SPDX-License-Identifier: MIT
// verdict: correct
// Pools of memory for streams, what they count, and attributes of streams, with the results that CUDA documents.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void fill(int* x) {
    x[threadIdx.x] = static_cast<int>(threadIdx.x);
}

#define EXPECT(condition)                                     \
    do {                                                      \
        if (!(condition)) {                                   \
            std::printf("line %d does not hold\n", __LINE__); \
            return EXIT_FAILURE;                              \
        }                                                     \
    } while (0)

static unsigned long long bytes(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    unsigned long long value = ~0ULL;
    return cudaMemPoolGetAttribute(pool, attribute, &value) == cudaSuccess ? value : ~0ULL;
}

int main() {
    int supported = 0;
    EXPECT(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0) == cudaSuccess && supported == 1);
    cudaMemPool_t usual = nullptr, current = nullptr, own = nullptr;
    EXPECT(cudaDeviceGetDefaultMemPool(&usual, 0) == cudaSuccess && cudaDeviceGetMemPool(&current, 0) == cudaSuccess);
    EXPECT(current == usual && cudaDeviceGetDefaultMemPool(&usual, 1) == cudaErrorInvalidDevice);
    unsigned long long threshold = 1 << 20;
    EXPECT(cudaMemPoolSetAttribute(usual, cudaMemPoolAttrReleaseThreshold, &threshold) == cudaSuccess);
    EXPECT(bytes(usual, cudaMemPoolAttrReleaseThreshold) == threshold);
    int reuse = 0;
    EXPECT(cudaMemPoolSetAttribute(usual, cudaMemPoolReuseAllowOpportunistic, &reuse) == cudaSuccess);
    reuse = 7;
    EXPECT(cudaMemPoolGetAttribute(usual, cudaMemPoolReuseAllowOpportunistic, &reuse) == cudaSuccess && reuse == 0);

    cudaMemPoolProps properties = {};
    EXPECT(cudaMemPoolCreate(&own, &properties) == cudaErrorInvalidValue);
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    EXPECT(cudaMemPoolCreate(&own, &properties) == cudaSuccess && own != usual);

    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    int *x = nullptr, *y = nullptr, *z = nullptr;
    EXPECT(cudaMallocAsync(&x, 256, stream) == cudaSuccess);
    EXPECT(cudaMallocFromPoolAsync(&y, 512, own, stream) == cudaSuccess);
    EXPECT(cudaMallocAsync(&z, 1024, own, stream) == cudaSuccess);
    fill<<<1, 64, 0, stream>>>(x);
    fill<<<1, 128, 0, stream>>>(y);
    fill<<<1, 256, 0, stream>>>(z);
    EXPECT(bytes(usual, cudaMemPoolAttrUsedMemCurrent) == 256 && bytes(own, cudaMemPoolAttrUsedMemCurrent) == 1536);
    EXPECT(cudaFreeAsync(z, stream) == cudaSuccess && cudaStreamSynchronize(stream) == cudaSuccess);
    EXPECT(bytes(own, cudaMemPoolAttrUsedMemCurrent) == 512 && bytes(own, cudaMemPoolAttrUsedMemHigh) == 1536);
    unsigned long long none = 0;
    EXPECT(cudaMemPoolSetAttribute(own, cudaMemPoolAttrUsedMemHigh, &none) == cudaSuccess);
    EXPECT(bytes(own, cudaMemPoolAttrUsedMemHigh) == 512);
    EXPECT(cudaMemPoolSetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &none) == cudaErrorInvalidValue);

    // The device's pool is the one that cudaMallocAsync takes from; a destroyed one lives on in what was taken.
    EXPECT(cudaDeviceSetMemPool(0, own) == cudaSuccess && cudaMallocAsync(&z, 64, stream) == cudaSuccess);
    EXPECT(bytes(own, cudaMemPoolAttrUsedMemCurrent) == 576 && cudaMemPoolTrimTo(own, 0) == cudaSuccess);
    EXPECT(cudaMemPoolDestroy(own) == cudaSuccess && cudaDeviceGetMemPool(&current, 0) == cudaSuccess);
    EXPECT(current == usual && cudaMemPoolDestroy(own) == cudaErrorInvalidValue);
    EXPECT(cudaMemPoolDestroy(usual) == cudaErrorInvalidValue);
    EXPECT(cudaFreeAsync(x, stream) == cudaSuccess && cudaFreeAsync(y, stream) == cudaSuccess);
    EXPECT(cudaFree(z) == cudaSuccess && bytes(usual, cudaMemPoolAttrUsedMemCurrent) == 0);

    cudaStreamAttrValue value = {}, got = {};
    value.accessPolicyWindow.base_ptr = &value;
    value.accessPolicyWindow.num_bytes = 4096;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    EXPECT(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value) == cudaSuccess);
    cudaStream_t other = nullptr;
    cudaStreamCreate(&other);
    EXPECT(cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &got) == cudaSuccess);
    EXPECT(got.accessPolicyWindow.num_bytes == 0 && cudaStreamCopyAttributes(other, stream) == cudaSuccess);
    EXPECT(cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &got) == cudaSuccess);
    EXPECT(got.accessPolicyWindow.num_bytes == 4096 && got.accessPolicyWindow.hitProp == cudaAccessPropertyPersisting);
    EXPECT(cudaStreamSetAttribute(stream, cudaLaunchAttributeCooperative, &value) == cudaErrorInvalidValue);
    EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
    cudaStreamDestroy(stream);
    cudaStreamDestroy(other);
    EXPECT(cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &got) ==
           cudaErrorInvalidResourceHandle);
    EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    return EXIT_SUCCESS;
}
