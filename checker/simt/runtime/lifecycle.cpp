// SPDX-License-Identifier: MIT
//
// The end of the process: what it left behind becomes findings, and all that was asked for is printed.
#include <unistd.h>

#include <cstdio>

#include "checker/simt/runtime/errors.h"
#include "checker/simt/runtime/estimate_report.h"
#include "checker/simt/runtime/findings.h"
#include "checker/simt/runtime/orders.h"
#include "checker/simt/runtime/streams.h"
#include "checker/simt/runtime/traffic.h"

namespace simt {

static void find_what_is_left() {
    Streams::instance().run_the_rest();
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
