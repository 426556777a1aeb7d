// SPDX-License-Identifier: MIT
//
// cuBLAS by the names that programs use.
#pragma once
#pragma GCC system_header

#include "cublas_api.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "simt/cublas_refused.h"

#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasGetVersion cublasGetVersion_v2
#define cublasSetWorkspace cublasSetWorkspace_v2
#define cublasSetStream cublasSetStream_v2
#define cublasGetStream cublasGetStream_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasGetPointerMode cublasGetPointerMode_v2
#define cublasSgemm cublasSgemm_v2
#define cublasDgemm cublasDgemm_v2
#define cublasSgemv cublasSgemv_v2
#define cublasSaxpy cublasSaxpy_v2
#define cublasSnrm2 cublasSnrm2_v2
