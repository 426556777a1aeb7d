// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/counting/estimate_report.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/counting/traffic.h"

namespace simt {

void print_estimate_once() {
    static bool printed = false;
    const char* wanted = std::getenv("SIMT_ESTIMATE");
    if (wanted == nullptr || *wanted == '\0' || std::exchange(printed, true)) {
        return;
    }
    std::fflush(stdout);
    if (!hot.checking) {
        fmt::print(stderr, "simt: SIMT_ESTIMATE={}: nothing is counted with SIMT_CHECK=off; leave that out\n", wanted);
        return;
    }
    // It lies beside libsimt.a, in a file of its own: most programs never ask for it.
    void* library = dlopen("libsimt_estimate.so", RTLD_NOW | RTLD_LOCAL);
    using Print = void(const char* wanted, const char* sass, const char* counts);
    auto* print = library == nullptr ? nullptr : reinterpret_cast<Print*>(dlsym(library, "sol_print_estimate"));
    if (print == nullptr) {
        fmt::print(stderr, "simt: SIMT_ESTIMATE={}: {}; make simt builds it\n", wanted, dlerror());
        return;
    }
    const char* sass = std::getenv("SIMT_SASS");
    print(wanted, sass == nullptr ? "" : sass, traffic_as_json(traffic_of_launches(), traffic_of_kernels()).c_str());
}

}  // namespace simt
