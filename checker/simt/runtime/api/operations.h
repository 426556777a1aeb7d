// SPDX-License-Identifier: MIT
//
// Operations made of what an API function was given.
#pragma once

#include "checker/simt/include/driver_types.h"
#include "checker/simt/runtime/base/source.h"
#include "checker/simt/runtime/streams/work.h"

namespace simt {

// Each judges its arguments as the call that issues such work does, says what is wrong with them, and returns the call's
// error; then it makes an operation that can be issued again and again. `name` is the call's, for reports; `site` its return
// address. Nothing is kept of a copy's source: it is read when the operation runs. What is empty is wrong.
cudaError_t make_kernel(const cudaKernelNodeParams& kernel, const KernelAttributes& attributes, const SourceLine& line,
                        Operation& made);
cudaError_t make_copy(const CopyWork& copy, const char* name, const void* site, Operation& made);
cudaError_t make_memset(const MemsetWork& memset, const char* name, const void* site, Operation& made);

}  // namespace simt
