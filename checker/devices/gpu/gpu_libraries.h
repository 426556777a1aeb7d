// SPDX-License-Identifier: MIT
//
// cuBLAS and NVML, opened while the program runs: it links with neither, and does without where they are missing.
// The few types and numbers declared here are those of cublas_api.h and nvml.h, which a course machine need not have.
#pragma once

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <glob.h>
#include <library_types.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/devices/gpu/gpu_roof.h"

namespace checker {

class DynamicLibrary {
  public:
    // The first of `names` that can be opened. Throws std::runtime_error with what the loader said about the first.
    explicit DynamicLibrary(const std::vector<std::string>& names) {
        std::string why;
        for (const std::string& name : names) {
            // A library of device code must not be unloaded before the CUDA runtime is.
            handle_.reset(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
            if (handle_) {
                return;
            }
            const char* error = dlerror();
            if (why.empty() && error != nullptr) {
                why = error;
            }
        }
        throw std::runtime_error(why);
    }

    // Throws std::runtime_error where the library lacks it. Function is a pointer to a function.
    template <class Function>
    Function function(const char* name) const {
        void* address = dlsym(handle_.get(), name);
        if (address == nullptr) {
            throw std::runtime_error(std::string("the library has no ") + name);
        }
        return reinterpret_cast<Function>(address);
    }

  private:
    struct Close {
        void operator()(void* handle) const { static_cast<void>(dlclose(handle)); }
    };
    std::unique_ptr<void, Close> handle_;
};

// Throws std::runtime_error unless `status`, which the library's function `what` returned, is success.
inline void require_success(int status, const char* what) {
    if (status != 0) {
        throw std::runtime_error(std::string(what) + " returned " + std::to_string(status));
    }
}

class Cublas {
  public:
    enum class Precision { fp32, tf32, bf16 };

    // `path` may be empty: then it is what SOL_CUBLAS names, or is searched in the loader's usual places and .venv.
    // Throws std::runtime_error.
    Cublas(const std::string& path, cudaStream_t stream) : library_(names(path)) {
        void* handle = nullptr;
        require_success(library_.function<int (*)(void**)>("cublasCreate_v2")(&handle), "cublasCreate");
        handle_ = {handle, library_.function<int (*)(void*)>("cublasDestroy_v2")};
        require_success(library_.function<int (*)(void*, cudaStream_t)>("cublasSetStream_v2")(handle, stream),
                        "cublasSetStream");
        require_success(library_.function<int (*)(void*, int*)>("cublasGetVersion_v2")(handle, &version_),
                        "cublasGetVersion");
        gemm_ = library_.function<GemmEx>("cublasGemmEx");
    }

    // 130100 is 13.1.0; releases before 12 counted in another way.
    int version() const { return version_; }

    // bf16: all three matrices; fp32 and TF32: all three are float, of TF32 the products are rounded. Sums are float.
    void matmul(Precision precision, void* out, const void* inp, const void* weight, const MatmulShape& shape) const {
        constexpr int kNotTransposed = 0, kTransposed = 1;
        constexpr int kCompute32F = 68, kCompute32FFastTf32 = 77, kDefaultAlgorithm = -1;
        const bool bf16 = precision == Precision::bf16;
        const cudaDataType type = bf16 ? CUDA_R_16BF : CUDA_R_32F;
        const float alpha = 1, beta = 0;
        // cuBLAS counts by columns: to it, out is (OC, N), weight (C, OC) and inp (C, N).
        require_success(gemm_(handle_.get(), kTransposed, kNotTransposed, shape.OC, shape.N, shape.C, &alpha, weight,
                              type, shape.C, inp, type, shape.C, &beta, out, type, shape.OC,
                              precision == Precision::tf32 ? kCompute32FFastTf32 : kCompute32F, kDefaultAlgorithm),
                        "cublasGemmEx");
    }

  private:
    using GemmEx = int (*)(void*, int, int, int, int, int, const void*, const void*, cudaDataType, int, const void*,
                           cudaDataType, int, const void*, void*, cudaDataType, int, int, int);

    static std::vector<std::string> names(const std::string& path) {
        if (!path.empty()) {
            return {path};
        }
        if (const char* named = std::getenv("SOL_CUBLAS"); named != nullptr) {
            return {named};
        }
        // First the release of this program's own toolkit.
        const int major = CUDART_VERSION / 1000;
        std::vector<std::string> names = {"libcublas.so." + std::to_string(major)};
        for (const int other : {13, 12, 11}) {
            if (other != major) {
                names.push_back("libcublas.so." + std::to_string(other));
            }
        }
        names.push_back("libcublas.so");
        names.push_back("/usr/local/cuda/lib64/libcublas.so");
        // The wheel nvidia-cublas, in the course's .venv.
        glob_t found{};
        if (glob(".venv/lib/python3*/site-packages/nvidia/*/lib/libcublas.so.*", 0, nullptr, &found) == 0) {
            for (std::size_t i = 0; i < found.gl_pathc; i++) { names.emplace_back(found.gl_pathv[i]); }
        }
        globfree(&found);
        return names;
    }

    DynamicLibrary library_;  // closed after handle_
    std::unique_ptr<void, int (*)(void*)> handle_{nullptr, nullptr};
    GemmEx gemm_ = nullptr;
    int version_ = 0;
};

// The driver's monitoring library. Reads; sets nothing.
class Nvml {
  public:
    // Throws std::runtime_error where there is none, or it does not know the device.
    explicit Nvml(const std::string& pci_bus_id) : library_({"libnvidia-ml.so.1", "libnvidia-ml.so"}) {
        require_success(library_.function<int (*)()>("nvmlInit_v2")(), "nvmlInit");
        shutdown_ = library_.function<int (*)()>("nvmlShutdown");
        require_success(library_.function<int (*)(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2")(
                            pci_bus_id.c_str(), &device_),
                        "nvmlDeviceGetHandleByPciBusId");
    }
    ~Nvml() { static_cast<void>(shutdown_()); }
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    // Of the multiprocessors, in Hz; empty where the card does not tell.
    std::optional<double> sm_clock() const { return clock("nvmlDeviceGetClockInfo"); }
    std::optional<double> sm_clock_max() const { return clock("nvmlDeviceGetMaxClockInfo"); }

    // Such as "580.65.06".
    std::optional<std::string> driver_version() const {
        char version[96] = "";
        const auto get = library_.function<int (*)(char*, unsigned)>("nvmlSystemGetDriverVersion");
        return get(version, sizeof version) == 0 ? std::optional<std::string>(version) : std::nullopt;
    }

  private:
    std::optional<double> clock(const char* function) const {
        constexpr int kSmClock = 1;
        unsigned megahertz = 0;
        const auto get = library_.function<int (*)(void*, int, unsigned*)>(function);
        return get(device_, kSmClock, &megahertz) == 0 && megahertz > 0 ? std::optional(megahertz * 1e6) : std::nullopt;
    }

    DynamicLibrary library_;
    void* device_ = nullptr;
    int (*shutdown_)() = nullptr;
};

}  // namespace checker
