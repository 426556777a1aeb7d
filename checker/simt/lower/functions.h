// SPDX-License-Identifier: MIT
//
// The functions that a file declares and defines outside of other functions, and the arrays of constants beside them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "checker/simt/lower/navigation.h"

namespace simt {

struct Function {
    std::size_t begin;                // the declaration's first token
    std::size_t name;                 // the word `operator` if it is one
    std::size_t open = 0, close = 0;  // the brackets of its body; both 0 if it is only declared
    bool is_kernel = false, is_device = false, is_host = false;  // it has CUDA's word
    bool is_constexpr = false;
    bool is_emitted = true;     // also without a caller: neither inline, nor static, nor a template or member
    bool is_member = false;     // belongs to a class, or is defined with its scope's name before its own
    bool is_defaulted = false;  // or deleted

    bool is_for_the_device() const { return is_kernel || is_device; }
};

struct Declarations {
    std::vector<Function> functions;
    std::vector<std::size_t> constant_arrays;  // the names of const and constexpr arrays of the host, in no class
    std::vector<std::size_t> namespaces;       // the names of those that are opened
};

Declarations declarations(const Navigation& tokens);

}  // namespace simt
