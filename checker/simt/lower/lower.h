// SPDX-License-Identifier: MIT
//
// From CUDA C++ to C++: what a C++ compiler cannot read is rewritten on its own line, and everything else stays as it
// is.
//   kernel<<<grid, block, bytes, stream>>>(args)   (::simt::configure(grid, block, bytes, stream), kernel(args))
//   __global__ void kernel(float* out) { body }    { struct … { …(decltype(out) out) { body } }; ::simt::enter(…, out); }
//   extern __shared__ float tile[];                float (*const tile) = …the block's dynamic shared memory…;
//   __shared__ float tile[32];                     a guard band, then the array
//   __device__ float table[4];                     a guard band, then the variable, in a section of its own
//   if (i < n) { __syncthreads(); }                if (SIMT_WITHIN(…); i < n) {…}: the runtime knows who is within
// So a kernel keeps its name, its overloads, its template arguments and its conversions, as under nvcc: when the host
// calls it, it launches itself.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "checker/simt/lower/tokens.h"

namespace simt {

// Throws SourceError if a construct does not end, or is not on the CPU device. For a debugger the function
// that gets a kernel's body has the kernel's name, so that the debugger shows it as such, and says when the thread begins. What serves only the checks is left out.
enum class Purpose { checks, debugger };

// Whether another file may use this one's device variables and functions (nvcc's -rdc=true), or has its own.
enum class Linkage { file, program };

// Before the name of an array of dynamic shared memory: how the compiler sees that two of one name have two types.
inline constexpr std::string_view kExternShared = "simt_extern_shared_";

// Throws SourceError at the first use of a library that the device lacks: a header of it may be read and not used.
void refuse(const Source& source);

// `marks`: where functions begin whose uses the compiler is to name (nvcc_refuses.h).
std::string lower(const Source& source, Purpose purpose = Purpose::checks, Linkage linkage = Linkage::program,
                  const std::vector<std::size_t>& marks = {});

}  // namespace simt
