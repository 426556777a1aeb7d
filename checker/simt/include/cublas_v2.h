// SPDX-License-Identifier: MIT
#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"
#pragma simt refuses cublas cuBLAS
#pragma simt refuses CUBLAS_ cuBLAS
