// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/base/source.h"

#include <link.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/simt/runtime/base/libbacktrace.h"

namespace simt {
namespace {

// The module whose lines are wanted: where it lies, and how many modules had been loaded by then.
struct Module {
    std::uintptr_t base = 0;
    unsigned long long loaded = 0;
    bool there = false;
};

bool holds(const dl_phdr_info& info, std::uintptr_t pc) {
    return std::any_of(info.dlpi_phdr, info.dlpi_phdr + info.dlpi_phnum, [&](const ElfW(Phdr) & part) {
        return part.p_type == PT_LOAD && pc - info.dlpi_addr - part.p_vaddr < part.p_memsz;
    });
}

Module module_of(std::uintptr_t pc) {
    std::pair<std::uintptr_t, Module> wanted(pc, {});
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto& [address, found] = *static_cast<std::pair<std::uintptr_t, Module>*>(data);
            if (holds(*info, address)) {
                found = {.base = info->dlpi_addr, .loaded = info->dlpi_adds, .there = true};
            }
            return found.there ? 1 : 0;
        },
        &wanted);
    return wanted.second;
}

void ignore_error(void*, const char*, int) {}

const Module* shown = nullptr;  // to libbacktrace

// libbacktrace reads the modules that are loaded when its state is first used, and keeps them.
backtrace_state* state_of(const Module& module) {
    static auto& states = *new std::map<std::uintptr_t, std::pair<unsigned long long, backtrace_state*>>;
    auto& [loaded, state] = states[module.base];
    if (state == nullptr || loaded != module.loaded) {
        state = backtrace_create_state(nullptr, 0, ignore_error, nullptr);  // never freed: libbacktrace offers no way
        loaded = module.loaded;
    }
    return state;
}

bool is_stand_in(std::string_view file) {
    return file.find("checker/simt/include/") != std::string_view::npos || file.starts_with("/usr/include/") ||
           file.ends_with("checker/ptx.h");
}

// In which the arithmetic is CUDA's own: cg::plus, __fadd_rn.
bool has_arithmetic(std::string_view file) {
    return file.ends_with("checker/simt/include/simt/math.h") ||
           file.ends_with("checker/simt/include/simt/group_operators.h");
}

std::string shown_path(const char* file) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path path = fs::path(file).lexically_normal();
    const fs::path relative = path.lexically_relative(fs::current_path(error));
    return relative.empty() || *relative.begin() == ".." ? path.string() : relative.string();
}

SourceLine look_up(std::uintptr_t pc) {
    const Module module = module_of(pc);
    if (!module.there) {
        return {};
    }
    shown = &module;
    std::vector<SourceLine> frames;
    backtrace_pcinfo(
        state_of(module), pc,
        [](void* data, std::uintptr_t, const char* file, int line, const char* function) {
            if (file != nullptr) {
                static_cast<std::vector<SourceLine>*>(data)->push_back(
                    {file, line, function == nullptr ? "" : function});
            }
            return 0;
        },
        ignore_error, &frames);
    shown = nullptr;
    const auto computing =
        std::ranges::find_if(frames, [](const SourceLine& frame) { return !frame.file.starts_with("/usr/include/"); });
    const bool stands_in =
        computing != frames.end() && is_stand_in(computing->file) && !has_arithmetic(computing->file);
    std::erase_if(frames, [](const SourceLine& frame) { return is_stand_in(frame.file); });
    if (frames.empty()) {
        SourceLine unknown;
        unknown.stands_in = stands_in;
        return unknown;
    }
    for (SourceLine* frame : {&frames.front(), &frames.back()}) { frame->file = shown_path(frame->file.c_str()); }
    SourceLine line = frames.front();
    line.stands_in = stands_in;
    if (!(line == frames.back())) {
        line.caller = std::make_shared<const SourceLine>(frames.back());
    }
    return line;
}

}  // namespace

// libbacktrace calls this instead of dl_iterate_phdr (scripts/backtrace.sh). It is shown the program itself, which it expects
// first, and the module that is asked for: reading all of the C library's debug information would take longer than
// most kernels run.
extern "C" int simt_debug_modules(int (*callback)(dl_phdr_info*, std::size_t, void*), void* data) {
    std::pair<decltype(callback), void*> asked(callback, data);
    return dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t size, void* passed) {
            const auto& [tell, its_data] = *static_cast<std::pair<decltype(callback), void*>*>(passed);
            const bool program = info->dlpi_name == nullptr || *info->dlpi_name == '\0';
            return program || info->dlpi_addr == shown->base ? tell(info, size, its_data) : 0;
        },
        &asked);
}

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

std::string at_text_of(const SourceLine& line) {
    return line.file.empty() ? "" : " at " + text_of(line);
}

std::string text_with_caller(const SourceLine& line) {
    return text_of(line) + (line.caller == nullptr ? "" : " (called at " + text_of(*line.caller) + ")");
}

}  // namespace simt
