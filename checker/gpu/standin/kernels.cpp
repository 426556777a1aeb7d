// SPDX-License-Identifier: MIT
//
// Runs a lesson's kernels on the CPU device, for the stand-in: linked with their objects and with the device's runtime.
#include "checker/gpu/standin/kernels.h"

#include <cuda_runtime.h>
#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "checker/simt/runtime/modules.h"

namespace {

// As C++ says it: nvcc's name of an unnamed namespace is another than the host compiler's, and both are this.
std::string demangled(const std::string& linkage_name) {
    int status = 0;
    char* const text = abi::__cxa_demangle(linkage_name.c_str(), nullptr, nullptr, &status);
    std::string name = status == 0 ? text : linkage_name;
    std::free(text);
    return name;
}

const std::map<std::string, const void*>& functions() {
    static const std::map<std::string, const void*> all = [] {
        std::map<std::string, const void*> by_name;
        for (const simt::Symbol& symbol :
             simt::module_of(reinterpret_cast<const void*>(&standin_run_kernel))->functions) {
            by_name[demangled(symbol.linkage_name)] = reinterpret_cast<const void*>(symbol.begin);
        }
        return by_name;
    }();
    return all;
}

}  // namespace

int standin_run_kernel(const KernelRun& run) {
    const auto found = functions().find(demangled(run.linkage_name));
    if (found == functions().end()) {
        std::fprintf(stderr, "the stand-in has no kernel %s\n", demangled(run.linkage_name).c_str());
        return cudaErrorInvalidDeviceFunction;
    }
    const auto dims = [](const unsigned int* d) { return dim3(d[0], d[1], d[2]); };
    const cudaError_t refused =
        cudaLaunchKernel(found->second, dims(run.grid), dims(run.block), run.arguments, run.dynamic_bytes, nullptr);
    return refused != cudaSuccess ? refused : cudaDeviceSynchronize();
}
