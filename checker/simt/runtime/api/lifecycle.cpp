// SPDX-License-Identifier: MIT
//
// The end of the process: what it left behind becomes findings, and all that was asked for is printed.
#include "checker/simt/runtime/api/lifecycle.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/counting/estimate_report.h"
#include "checker/simt/runtime/counting/traffic.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/report/objects.h"
#include "checker/simt/runtime/streams/capture.h"
#include "checker/simt/runtime/streams/graphs.h"
#include "checker/simt/runtime/streams/orders.h"
#include "checker/simt/runtime/streams/streams.h"

namespace simt {

void report_unchecked_error() {
    if (const std::optional<UnseenError> unseen = unseen_error()) {
        report(Kind::unchecked_error, "", unseen->launch, [&] {
            return fmt::format("the launch failed with {} ({}), and nobody looked: check(cudaGetLastError()) after it",
                               cudaGetErrorName(unseen->error), cudaGetErrorString(unseen->error));
        });
    }
}

void report_leaks() {
    for (const auto& [begin, allocation] : Memory::instance().allocations()) {
        if (allocation.freed_at == nullptr) {
            report(Kind::leak, "", allocation.allocated_at, [&] { return text_of(allocation) + " was never freed"; });
        }
    }
    report_left_objects();
    Captures::instance().report_left();
    Captures::instance().abandon_all();
    Graphs::instance().report_left();
}

static void find_what_is_left() {
    Streams::instance().drain();
    report_unchecked_error();
    report_leaks();
}

// Runs after the program's own destructors, which may free device memory.
__attribute__((destructor)) static void report_when_the_process_ends() {
    print_traffic_once();
    print_estimate_once();
    Orders::instance().print();
    if (print_findings_once(find_what_is_left)) {
        std::fflush(nullptr);
        _exit(1);
    }
}

}  // namespace simt
