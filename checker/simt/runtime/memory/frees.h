// SPDX-License-Identifier: MIT
//
// The ways in which memory is freed, each of which is right for some of it.
#pragma once

namespace simt {

enum class FreedBy { cuda_free, cuda_free_host, kernel };

const char* text_of(FreedBy by);  // "cudaFree"
// Returns true if the pointer may be freed in this way; if not, there is a finding.
bool may_free(void* pointer, FreedBy by, const void* site);

}  // namespace simt
