// SPDX-License-Identifier: MIT
//
// CUDA's runtime on the CPU device. What is declared here works as CUDA documents it; the rest is not there yet.
#pragma once
#include "simt/before_libc.h"
#pragma GCC system_header

#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __CUDACC_VER_BUILD__ 88

// nvcc reads them before every file too.
#include <limits.h>
#include <time.h>

#include "simt/qualifiers.h"
//
#include "simt/api.h"
#include "simt/bits.h"
#include "simt/cache_hints.h"
#include "simt/clock.h"
#include "simt/graph_api.h"
#include "simt/indices.h"
#include "simt/launch.h"
#include "simt/math.h"
#include "simt/missing.h"
#include "simt/ptx.h"
#include "simt/shifts.h"
#include "simt/simd.h"
#include "simt/synchronise.h"
#include "vector_functions.h"
#ifdef __cpp_concepts  // not in C++17 of the host's compiler, which reads no kernels
#include "simt/atomics.h"
#include "simt/warp.h"
#endif
