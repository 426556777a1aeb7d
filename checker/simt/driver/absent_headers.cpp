// SPDX-License-Identifier: MIT
#include "checker/simt/driver/absent_headers.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string_view>

namespace simt {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

struct AbsentHeaders {
    std::string_view begin;    // their names' beginning
    std::string_view names;    // beginnings of what they declare, as in `#pragma simt refuses`; if there are none, the
                               // #include is the error
    std::string_view library;  // "it has no …"
};

// The first row that fits counts.
constexpr std::array kAbsent = {
    AbsentHeaders{"cub/", "cub::", "CUB"},
    AbsentHeaders{"thrust/", "thrust::", "Thrust"},
    AbsentHeaders{"curand", "curand CURAND_", "cuRAND"},
    AbsentHeaders{"cudnn", "cudnn CUDNN_", "cuDNN"},
    AbsentHeaders{"nccl", "nccl NCCL_", "NCCL"},
    AbsentHeaders{"cublasXt.h", "cublasXt CUBLASXT_", "cuBLASXt"},
    AbsentHeaders{"cublas.h", "cublas CUBLAS_", "cuBLAS without handles"},
    AbsentHeaders{"cufftw", "fftw fftwf", "cuFFT"},
    AbsentHeaders{"cufft", "cufft CUFFT_", "cuFFT"},
    AbsentHeaders{"cusparse", "cusparse CUSPARSE_", "cuSPARSE"},
    AbsentHeaders{"cusolver", "cusolver CUSOLVER_", "cuSOLVER"},
    AbsentHeaders{"cutensor", "cutensor CUTENSOR_", "cuTENSOR"},
    AbsentHeaders{"cudss", "cudss CUDSS_", "cuDSS"},
    AbsentHeaders{"npp", "npp nppi npps Npp Nppi NPP_", "NPP"},
    AbsentHeaders{"nvjpeg", "nvjpeg NVJPEG_", "nvJPEG"},
    AbsentHeaders{"nvrtc", "nvrtc NVRTC_", "NVRTC"},
    AbsentHeaders{"nvJitLink", "nvJitLink NVJITLINK_", "linker at run time"},
    AbsentHeaders{"nvPTXCompiler", "nvPTXCompile nvPTXCompiler", "compiler of PTX"},
    AbsentHeaders{"nvshmem", "nvshmem nvshmemx NVSHMEM_", "NVSHMEM"},
    AbsentHeaders{"nvml", "nvml NVML_", "NVML"},
    AbsentHeaders{"cupti", "cupti CUpti CUPTI_", "CUPTI"},
    AbsentHeaders{"cufile", "cuFile CUfile CU_FILE_", "cuFile"},
    AbsentHeaders{"cuda_gl_interop.h", "cudaGL cudaGraphicsGL", "graphics"},
    AbsentHeaders{"cuda_egl_interop.h", "cudaEGL cudaEgl cudaGraphicsEGL cudaEventCreateFromEGL", "graphics"},
    AbsentHeaders{"cuda_vdpau_interop.h", "cudaVDPAU cudaGraphicsVDPAU", "graphics"},
    AbsentHeaders{"cuda_d3d", "", "graphics"},
    AbsentHeaders{"cudaGL", "cuGL cuGraphicsGL", "graphics"},
    AbsentHeaders{"cudaEGL", "cuEGL CUegl cuGraphicsEGL", "graphics"},
    AbsentHeaders{"cudaVDPAU", "cuVDPAU cuGraphicsVDPAU", "graphics"},
    AbsentHeaders{"cudaProfiler", "cuProfiler", "driver API"},
    AbsentHeaders{"cudaTypedefs.h", "PFN_cu", "driver API"},
    AbsentHeaders{"cuda_occupancy.h", "cudaOcc", "calculator of occupancy"},
    AbsentHeaders{"nvvm", "nvvm NVVM_", "NVVM"},
    AbsentHeaders{"nvperf", "NVPW_ NVPA_", "profiler"},
    AbsentHeaders{"nv/", "", "such part of libcu++"},
    AbsentHeaders{"cuda_fp4", "", "numbers of 4 bits"},
    AbsentHeaders{"cuda_fp6", "", "numbers of 6 bits"},
    AbsentHeaders{"cuda/", "", "such part of libcu++"},
    AbsentHeaders{"cooperative_groups/", "", "such part of cooperative groups"},
    AbsentHeaders{"nvtx3/", "", "such part of NVTX"},
};

// The runtime's own, which programs include by these names too. cuda_runtime.h has all of them.
constexpr std::array kParts = {"crt/"sv,
                               "channel_descriptor.h"sv,
                               "common_functions.h"sv,
                               "cuda_stdint.h"sv,
                               "cuda_surface_types.h"sv,
                               "cuda_texture_types.h"sv,
                               "device_atomic_functions.hpp"sv,
                               "device_double_functions.h"sv,
                               "device_types.h"sv,
                               "driver_functions.h"sv,
                               "host_config.h"sv,
                               "host_defines.h"sv,
                               "math_functions.hpp"sv,
                               "sm_"sv,
                               "surface_functions.h"sv,
                               "surface_indirect_functions.h"sv,
                               "surface_types.h"sv,
                               "texture_fetch_functions.h"sv,
                               "texture_indirect_functions.h"sv,
                               "texture_types.h"sv,
                               "vector_functions.hpp"sv};

// cuda/std/X is the C++ library's X, whose names cuda::std has.
constexpr std::array kStandard = {
    "algorithm"sv,   "array"sv,  "atomic"sv,      "cassert"sv,    "cfloat"sv,           "chrono"sv,
    "climits"sv,     "cmath"sv,  "complex"sv,     "cstddef"sv,    "cstdint"sv,          "cstdlib"sv,
    "cstring"sv,     "ctime"sv,  "exception"sv,   "functional"sv, "initializer_list"sv, "iterator"sv,
    "limits"sv,      "memory"sv, "new"sv,         "numeric"sv,    "optional"sv,         "ratio"sv,
    "string_view"sv, "tuple"sv,  "type_traits"sv, "utility"sv,    "variant"sv,          "version"sv};
// libcu++ has these in C++17 too.
constexpr std::array kStandardOfCpp20 = {"bit"sv, "concepts"sv, "numbers"sv, "ranges"sv, "source_location"sv, "span"sv};

constexpr std::string_view kFirst = "#pragma once\n#pragma GCC system_header\n";

template <class List>
bool contains(const List& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

std::string standard_header(const std::string& name) {
    const std::string text = "#include <" + name + ">\n#include <simt/standard_names.h>\n";
    if (contains(kStandard, name)) {
        return text;
    }
    return contains(kStandardOfCpp20, name) ? "#if __cplusplus < 202002L\n#error \"cuda/std/" + name +
                                                  " needs -std=c++20 on the CPU device\"\n#endif\n" + text
                                            : "";
}

}  // namespace

std::string absent_header(const std::string& name) {
    const auto begins = [&](std::string_view begin) { return name.starts_with(begin); };
    if (name.find("..") != std::string::npos) {
        return "";
    }
    std::string text(kFirst);
    if (begins("cuda/std/")) {
        if (const std::string standard = standard_header(name.substr(9)); !standard.empty()) {
            return text + standard;
        }
    }
    if (begins("nvToolsExt")) {
        return text + "#include <nvtx3/" + name + ">\n";
    }
    if (std::any_of(kParts.begin(), kParts.end(), begins)) {
        return text + "#include <cuda_runtime.h>\n";
    }
    const auto absent =
        std::find_if(kAbsent.begin(), kAbsent.end(), [&](const AbsentHeaders& row) { return begins(row.begin); });
    if (absent == kAbsent.end()) {
        return "";
    }
    if (absent->names.empty()) {
        return text + "#error \"" + name + " is not on the CPU device: it has no " + std::string(absent->library) +
               "\"\n";
    }
    text += "#include <cuda_runtime.h>\n";
    std::istringstream names{std::string(absent->names)};
    for (std::string one; names >> one;) {
        text += "#pragma simt refuses " + one + ' ' + std::string(absent->library) + '\n';
    }
    return text;
}

namespace {

class IncludeScan {
  public:
    explicit IncludeScan(const std::vector<fs::path>& folders) : folders_(folders) {}

    void file(const fs::path& path) {
        std::error_code unreadable;
        if (!read_.insert(fs::weakly_canonical(path, unreadable)).second) {
            return;
        }
        std::ifstream in(path);
        for (std::string line; std::getline(in, line);) {
            if (const std::string name = included(line); !name.empty()) {
                include(path.parent_path(), name);
            }
        }
    }

    std::set<std::string> absent;

  private:
    // Returns x.h of a line `#include <x.h>` or `#include "x.h"`.
    static std::string included(std::string_view line) {
        const auto skip = [&](std::string_view word) {
            line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
            const bool there = line.starts_with(word);
            line.remove_prefix(there ? word.size() : 0);
            return there;
        };
        if (!skip("#") || !skip("include")) {
            return "";
        }
        const bool angles = skip("<");
        if (!angles && !skip("\"")) {
            return "";
        }
        return std::string(line.substr(0, line.find(angles ? '>' : '"')));
    }

    void include(const fs::path& beside, const std::string& name) {
        std::error_code unreadable;
        std::vector<fs::path> candidates = {beside / name};
        for (const fs::path& folder : folders_) { candidates.push_back(folder / name); }
        for (const fs::path& candidate : candidates) {
            if (fs::is_regular_file(candidate, unreadable)) {
                file(candidate);
                return;
            }
        }
        absent.insert(name);
    }

    const std::vector<fs::path>& folders_;
    std::set<fs::path> read_;
};

}  // namespace

std::set<std::string> absent_includes(const std::vector<fs::path>& files, const std::vector<fs::path>& folders) {
    IncludeScan scan(folders);
    for (const fs::path& file : files) { scan.file(file); }
    return scan.absent;
}

}  // namespace simt
