// SPDX-License-Identifier: MIT
//
// What CUDA has and the CPU device lacks: the compiler refuses its use, with a line that says so.
#pragma once
#pragma GCC system_header

#define SIMT_MISSING(name) __attribute__((unavailable(#name " is not on the CPU device"))) int name(...)

namespace simt::missing {
class Texture;
}
using cudaTextureObject_t = simt::missing::Texture*;
SIMT_MISSING(cudaCreateTextureObject);
SIMT_MISSING(cudaMalloc3D);
SIMT_MISSING(cudaMallocArray);
SIMT_MISSING(cudaMemcpy3D);
SIMT_MISSING(cudaStreamBeginCapture);
SIMT_MISSING(cudaGraphLaunch);
SIMT_MISSING(cudaHostGetFlags);
SIMT_MISSING(cudaMalloc3DArray);
SIMT_MISSING(cudaMemset3D);
SIMT_MISSING(cudaMemcpy3DAsync);
SIMT_MISSING(cudaMemcpyToArray);
SIMT_MISSING(cudaFreeArray);
SIMT_MISSING(cudaDestroyTextureObject);
SIMT_MISSING(cudaCreateSurfaceObject);
SIMT_MISSING(cudaMemRangeGetAttribute);
SIMT_MISSING(cudaStreamEndCapture);
SIMT_MISSING(cudaStreamIsCapturing);
SIMT_MISSING(cudaStreamGetCaptureInfo);
SIMT_MISSING(cudaGraphCreate);
SIMT_MISSING(cudaGraphInstantiate);
SIMT_MISSING(cudaGraphDestroy);
SIMT_MISSING(cudaGraphExecDestroy);
SIMT_MISSING(cudaGraphAddKernelNode);
SIMT_MISSING(cudaIpcGetMemHandle);
SIMT_MISSING(cudaIpcOpenMemHandle);
SIMT_MISSING(cudaGetDriverEntryPoint);
SIMT_MISSING(cudaChooseDevice);
SIMT_MISSING(cudaDeviceGetPCIBusId);
SIMT_MISSING(cudaOccupancyAvailableDynamicSMemPerBlock);
SIMT_MISSING(cudaOccupancyMaxActiveClusters);
SIMT_MISSING(cudaFuncGetParamInfo);
SIMT_MISSING(__dp4a);
SIMT_MISSING(__dp2a_lo);
SIMT_MISSING(__vadd2);
SIMT_MISSING(__vadd4);
SIMT_MISSING(__nv_isClusterShared);
#undef SIMT_MISSING

#define SIMT_MISSING(name)                   \
    template <class T = float, class... Any> \
    __attribute__((unavailable(#name " is not on the CPU device"))) T name(Any...)
SIMT_MISSING(tex1D);
SIMT_MISSING(tex1Dfetch);
SIMT_MISSING(tex2D);
SIMT_MISSING(tex2DLod);
SIMT_MISSING(tex3D);
SIMT_MISSING(surf1Dread);
SIMT_MISSING(surf2Dread);
SIMT_MISSING(surf2Dwrite);
#undef SIMT_MISSING
