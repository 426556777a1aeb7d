// SPDX-License-Identifier: MIT
//
// simtcc's command line: nvcc's everyday options.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace simt {

// The result of a run of simtcc.
enum class Product {
    program,
    library,       // -lib: an archive of objects
    device_link,   // -dlink: an object without code, because g++ has linked the kernels already
    preprocessed,  // -E
    dependencies,  // -M, -MM: a rule for make
    description    // --version, --dryrun: what build tools ask nvcc
};

struct Options {
    std::vector<std::string> sources;     // .cu, and .cpp and its like
    std::vector<std::string> objects;     // what the linker gets as it is: .o, .a, .so
    std::vector<std::string> preprocess;  // -I, -D, -U, -include, -isystem
    std::vector<std::string> compile;     // options of host compilers: -W…, -f…, what -Xcompiler gives
    std::vector<std::string> link;        // -l, -L, -Wl,…
    std::vector<std::string> included;    // --included: standard headers that each file has anyway
    std::string output;                   // -o; empty: a.out, or the source's name with .o
    std::string standard = "gnu++17";     // nvcc's, with g++ 11 to 14
    std::string directory;                // -odir: of objects without -o
    std::string dependencies;             // -MF: a file for make
    std::string target;                   // -MT: of that rule
    bool write_dependencies = false;      // -MD, -MMD
    bool system_dependencies = true;      // -M and -MD; not with -MM and -MMD
    Product product = Product::program;
    std::string optimise = "-O2";    // of host files; kernels are always compiled for checking
    bool compile_only = false;       // -c
    bool relocatable = false;        // -dc, -rdc=true: files share device variables and functions
    bool relaxed_constexpr = false;  // --expt-relaxed-constexpr: kernels may call constexpr functions of the host
    bool shared = false;             // -shared
    bool all_cuda = false;           // -x cu
    bool checked = true;             // --unchecked: no hooks, so no checks of memory, and faster
    bool arithmetic = false;         // --arithmetic: floating-point instructions are counted
    bool for_debugger = false;       // --for-debugger: no hooks, and line by line
    bool verbose = false;            // --verbose, -v: print the commands
    bool help = false;
};

// One line: which option, and what is wrong with it.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

Options parse_options(std::span<const std::string> arguments);

extern const char* const kUsage;
// Build tools look for nvcc's own words in it.
extern const char* const kVersion;

}  // namespace simt
