// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/source.h"

#include <backtrace.h>
#include <link.h>

#include <filesystem>
#include <map>
#include <string_view>
#include <vector>

namespace simt {
namespace {

// Modules that were loaded so far. libbacktrace knows those that were there when its state was made.
unsigned long long modules_loaded() {
    unsigned long long count = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* result) {
            *static_cast<unsigned long long*>(result) = info->dlpi_adds;
            return 1;
        },
        &count);
    return count;
}

void ignore_error(void*, const char*, int) {}

backtrace_state* state() {
    static backtrace_state* current = nullptr;
    static unsigned long long known = 0;
    const unsigned long long loaded = modules_loaded();
    if (current == nullptr || loaded != known) {
        current = backtrace_create_state(nullptr, 0, ignore_error, nullptr);  // never freed: libbacktrace offers no way
        known = loaded;
    }
    return current;
}

bool is_stand_in(std::string_view file) {
    return file.find("checker/simt/include/") != std::string_view::npos || file.starts_with("/usr/include/") ||
           file.ends_with("checker/ptx.h");
}

std::string shown_path(const char* file) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path path = fs::path(file).lexically_normal();
    const fs::path relative = path.lexically_relative(fs::current_path(error));
    return relative.empty() || *relative.begin() == ".." ? path.string() : relative.string();
}

SourceLine look_up(std::uintptr_t pc) {
    std::vector<SourceLine> frames;
    backtrace_pcinfo(
        state(), pc,
        [](void* data, std::uintptr_t, const char* file, int line, const char* function) {
            if (file != nullptr) {
                static_cast<std::vector<SourceLine>*>(data)->push_back(
                    {file, line, function == nullptr ? "" : function});
            }
            return 0;
        },
        ignore_error, &frames);
    for (SourceLine& frame : frames) {
        if (!is_stand_in(frame.file)) {
            frame.file = shown_path(frame.file.c_str());
            return frame;
        }
    }
    return {};
}

}  // namespace

const SourceLine& source_of(const void* return_address) {
    static auto& known = *new std::map<std::uintptr_t, SourceLine>;  // lives as long as the process: read at its exit
    const auto pc = reinterpret_cast<std::uintptr_t>(return_address) - 1;
    const auto [entry, is_new] = known.try_emplace(pc);
    if (is_new) {
        entry->second = look_up(pc);
    }
    return entry->second;
}

std::string text_of(const SourceLine& line) {
    return line.file.empty() ? "unknown line" : line.file + ':' + std::to_string(line.line);
}

}  // namespace simt
