// SPDX-License-Identifier: MIT
#pragma once
#pragma GCC system_header

#include "cuda_pipeline_primitives.h"
