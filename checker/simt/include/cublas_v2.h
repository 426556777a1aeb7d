// SPDX-License-Identifier: MIT
#pragma once
#pragma GCC system_header

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "library_types.h"
#pragma simt refuses cublas cuBLAS
#pragma simt refuses CUBLAS_ cuBLAS
