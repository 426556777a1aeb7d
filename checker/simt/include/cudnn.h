// SPDX-License-Identifier: MIT
#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"
#pragma simt refuses cudnn cuDNN
#pragma simt refuses CUDNN_ cuDNN
