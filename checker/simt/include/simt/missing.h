// SPDX-License-Identifier: MIT
//
// What CUDA has and the CPU device has not: using it is an error of the compiler, with a line that says so.
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
SIMT_MISSING(cudaMemcpyPeer);
SIMT_MISSING(cudaStreamBeginCapture);
SIMT_MISSING(cudaGraphLaunch);
SIMT_MISSING(cudaLaunchHostFunc);
SIMT_MISSING(cudaStreamAddCallback);
SIMT_MISSING(cudaDeviceSetLimit);
SIMT_MISSING(cudaFuncGetParamInfo);
SIMT_MISSING(__dp4a);
SIMT_MISSING(__dp2a_lo);
SIMT_MISSING(__vadd2);
SIMT_MISSING(__vadd4);
SIMT_MISSING(__nv_isClusterShared);
#undef SIMT_MISSING
