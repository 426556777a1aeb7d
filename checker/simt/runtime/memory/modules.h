// SPDX-License-Identifier: MIT
//
// The program and its shared objects, as far as kernels use them. The ELF symbol table tells, by name, where their
// code, constants, device variables and __shared__ arrays lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "checker/simt/include/simt/types.h"

namespace simt {

struct Symbol {
    std::uintptr_t begin;  // an address; for thread-local symbols an offset into the module's thread-local memory
    std::size_t bytes;
    std::string linkage_name;
    // The source file that keeps it to itself; 0: the whole program sees it, and no other symbol has its name.
    int file = 0;
    std::string name() const;  // without the scopes in which it lies: "tile"
    bool is_guard() const;
    bool is_flag() const;  // the compiler's own: whether a variable of a type with constructors is initialised
};

enum class Section { none, device, constant, managed };

// Says that code uses a __shared__ variable of a function that was inlined into it. It is one entry of the section
// simt_shared_use, which SIMT_NOTE_SHARED_USE writes (qualifiers.h).
struct SharedUse {
    std::int64_t code;       // where, relative to this entry
    std::uint64_t variable;  // its identity
    std::uint64_t bytes;
};

struct Module {
    std::string path;
    std::uintptr_t begin = 0, end = 0;                                 // all its segments
    std::vector<std::pair<std::uintptr_t, std::uintptr_t>> read_only;  // segments that are not writable
    std::size_t thread_local_bytes = 0;
    std::size_t thread_local_module = 0;                      // its number for dl_iterate_phdr
    std::vector<Symbol> functions, variables, thread_locals;  // by address
    struct Range {
        std::uintptr_t begin, end;
        Section section;
    };
    std::vector<Range> device_sections;
    std::span<const SharedUse> shared_uses;
    std::span<const std::int64_t> kernels;  // a place in each kernel's function, relative to the entry
    std::size_t constant_bytes = 0;         // __constant__ variables of the source file that has most

    const Symbol* function_at(std::uintptr_t address) const;
    const Symbol* variable_at(std::uintptr_t address) const;
    Section section_of(std::uintptr_t address) const;
    // The extents of a __shared__ or device variable of this module; null if they are not known (qualifiers.h).
    const Extents* extents_of(const Symbol& variable) const;
    // Returns true if it is a function with a note that it is a kernel (launch.h: enter).
    bool is_kernel(const Symbol& function) const;
    // The device variable that ends a little before the address; null if there is none.
    const Symbol* device_variable_before(std::uintptr_t address) const;
};

// The module that holds the address, or null. Modules are read once.
const Module* module_of(const void* address);

// Where this host thread's copy of the module's thread-local memory begins; 0 if it has none yet.
std::uintptr_t thread_local_begin(const Module& module);

// The static __shared__ bytes of a kernel: those of its own variables, and of the functions that were inlined into its
// code. A function that was not inlined (__noinline__, one that calls itself, all of them under --for-debugger) is not
// counted.
std::size_t static_shared_bytes(const Module& module, const Symbol& kernel, const void* code);

}  // namespace simt
