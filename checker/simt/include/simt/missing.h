// SPDX-License-Identifier: MIT
//
// What CUDA has and the CPU device lacks: the compiler refuses its use, with a line that says so. Whole parts of CUDA
// (textures, …) and libraries are refused by simt-lower.
#pragma once
#pragma GCC system_header

#define SIMT_MISSING(name) __attribute__((unavailable(#name " is not on the CPU device"))) int name(...)

SIMT_MISSING(cudaCreateTextureObject);
SIMT_MISSING(cudaMalloc3D);
SIMT_MISSING(cudaMallocArray);
SIMT_MISSING(cudaMemcpy3D);
SIMT_MISSING(cudaHostGetFlags);
SIMT_MISSING(cudaMalloc3DArray);
SIMT_MISSING(cudaMemset3D);
SIMT_MISSING(cudaMemcpy3DAsync);
SIMT_MISSING(cudaMemcpyToArray);
SIMT_MISSING(cudaFreeArray);
SIMT_MISSING(cudaDestroyTextureObject);
SIMT_MISSING(cudaCreateSurfaceObject);
SIMT_MISSING(cudaMemRangeGetAttribute);
SIMT_MISSING(cudaStreamBeginCaptureToGraph);
SIMT_MISSING(cudaStreamUpdateCaptureDependencies);
SIMT_MISSING(cudaGraphAddMemcpyNodeToSymbol);
SIMT_MISSING(cudaGraphAddMemcpyNodeFromSymbol);
SIMT_MISSING(cudaGraphMemcpyNodeSetParamsToSymbol);
SIMT_MISSING(cudaGraphMemcpyNodeSetParamsFromSymbol);
SIMT_MISSING(cudaGraphExecMemcpyNodeSetParamsToSymbol);
SIMT_MISSING(cudaGraphExecMemcpyNodeSetParamsFromSymbol);
SIMT_MISSING(cudaGraphRetainUserObject);
SIMT_MISSING(cudaGraphReleaseUserObject);
SIMT_MISSING(cudaDeviceGraphMemTrim);
SIMT_MISSING(cudaDeviceGetGraphMemAttribute);
SIMT_MISSING(cudaDeviceSetGraphMemAttribute);
SIMT_MISSING(cudaMemcpyBatchAsync);
SIMT_MISSING(cudaGetDriverEntryPoint);
SIMT_MISSING(cudaChooseDevice);
SIMT_MISSING(cudaDeviceGetPCIBusId);
SIMT_MISSING(cudaOccupancyAvailableDynamicSMemPerBlock);
SIMT_MISSING(cudaOccupancyMaxActiveClusters);
SIMT_MISSING(cudaFuncGetParamInfo);
SIMT_MISSING(__isShared);
SIMT_MISSING(__isGlobal);
SIMT_MISSING(__isConstant);
SIMT_MISSING(__isLocal);
SIMT_MISSING(__isGridConstant);
SIMT_MISSING(__isClusterShared);
SIMT_MISSING(__isCtaShared);
SIMT_MISSING(__barrier_sync);
SIMT_MISSING(__barrier_sync_count);
SIMT_MISSING(__vavgs2);
SIMT_MISSING(__vavgs4);
SIMT_MISSING(__u128AtomicCAS);
SIMT_MISSING(__u128AtomicExch);
SIMT_MISSING(__clusterIdx);
SIMT_MISSING(__clusterDim);
SIMT_MISSING(__cluster_barrier_arrive);
SIMT_MISSING(__cluster_barrier_wait);
SIMT_MISSING(__cluster_map_shared_rank);
SIMT_MISSING(__prof_trigger);
SIMT_MISSING(cudaDeviceGetSharedMemConfig);
SIMT_MISSING(cudaDeviceSetSharedMemConfig);
SIMT_MISSING(cudaFuncSetSharedMemConfig);
SIMT_MISSING(cudaStreamGetId);
SIMT_MISSING(cudaStreamGetDevice);
SIMT_MISSING(cudaFuncGetName);
SIMT_MISSING(cudaDeviceGetByPCIBusId);
SIMT_MISSING(cudaMemRangeGetAttributes);
SIMT_MISSING(cudaSetValidDevices);
SIMT_MISSING(cudaGetExportTable);
SIMT_MISSING(cudaMemPoolExportToShareableHandle);
SIMT_MISSING(cudaMemPoolImportFromShareableHandle);
SIMT_MISSING(cudaDeviceFlushGPUDirectRDMAWrites);
SIMT_MISSING(cudaLogsDumpToFile);
SIMT_MISSING(cudaLogsDumpToMemory);
SIMT_MISSING(cudaGraphicsMapResources);
SIMT_MISSING(cudaGraphicsUnmapResources);
SIMT_MISSING(cudaGraphicsUnregisterResource);
SIMT_MISSING(cudaGraphicsResourceGetMappedPointer);
SIMT_MISSING(cudaOccupancyMaxPotentialBlockSizeWithFlags);
SIMT_MISSING(cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags);
SIMT_MISSING(cudaOccupancyMaxPotentialClusterSize);
#undef SIMT_MISSING
