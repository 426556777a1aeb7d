// SPDX-License-Identifier: MIT
//
// No op but what a profiler or compute-sanitizer is to the check's worker, by LD_PRELOAD: something that writes its report
// where the process ends by itself, and takes FAKE_TOOL_SECONDS for it. FAKE_TOOL_LOG gets a line where a worker begins
// and one with its exit status.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace {

void note(const std::string& line) {
    std::ofstream(std::getenv("FAKE_TOOL_LOG"), std::ios::app) << line << '\n';
}

[[gnu::constructor]] void watch() {
    std::ifstream command("/proc/self/cmdline");
    const std::string arguments((std::istreambuf_iterator<char>(command)), std::istreambuf_iterator<char>());
    if (arguments.find("--worker") == std::string::npos) {
        return;
    }
    note("begins");
    on_exit(
        [](int status, void*) {
            const char* const seconds = std::getenv("FAKE_TOOL_SECONDS");
            std::this_thread::sleep_for(
                std::chrono::duration<double>(seconds == nullptr ? 0.0 : std::strtod(seconds, nullptr)));
            note("ends with " + std::to_string(status));
        },
        nullptr);
}

}  // namespace
