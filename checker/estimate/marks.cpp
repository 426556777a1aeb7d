// SPDX-License-Identifier: MIT
#include "checker/estimate/marks.h"

#include <fmt/format.h>

#include <cstdlib>

namespace checker::estimate {
namespace {

// By bytes of a thread, how many instructions.
using Widths = std::map<int, double>;

std::map<MarkedLine, Widths> emitted_of(const KernelSass& kernel, const std::string& file) {
    std::map<MarkedLine, Widths> emitted;
    for (const Region& region : kernel.regions) {
        for (const EmittedAccess& access : region.accesses) {
            if ((access.file.empty() ? kernel.source : access.file) == file) {
                emitted[{access.line, access.kind}][static_cast<int>(access.bytes)] += access.count;
                if (access.is_async_copy) {
                    emitted[{access.line, Kind::shared_store}][static_cast<int>(access.bytes)] += access.count;
                }
            }
        }
    }
    return emitted;
}

bool is_marked(Kind kind) {
    return kind != Kind::global_atomic && kind != Kind::shared_atomic;
}

const char* noun_of(Kind kind) {
    return kind == Kind::global_load || kind == Kind::shared_load ? "loads" : "stores";
}

bool is_wider(const Widths& widths, int bytes) {
    return !widths.empty() && widths.rbegin()->first > bytes;
}

// Of accesses of `bytes` each: the wider ones that they have become, else the narrower ones where none is as it was.
std::string mark_of(const Widths& widths, Kind kind, int bytes) {
    const bool wider = is_wider(widths, bytes);
    if (!wider && widths.contains(bytes)) {
        return "";
    }
    std::string text;
    double all = 0;
    for (auto width = widths.rbegin(); width != widths.rend(); ++width) {
        if (!wider || width->first > bytes) {
            const std::string noun = text.empty() ? fmt::format(" {}", noun_of(kind)) : "";
            text += fmt::format("{}{}{} of {}", text.empty() ? "" : ", ", width->second, noun, width->first);
            all += width->first * width->second;
        }
    }
    return fmt::format("{} bytes for {:.4g} of {}", text, all / bytes, bytes);
}

}  // namespace

std::map<MarkedLine, std::string> marks_of(const std::vector<SourceAccess>& source, const KernelSass& kernel,
                                           const std::string& file) {
    constexpr int kApart = 3;  // lines of one statement, of which nvcc and g++ may name different ones
    std::map<MarkedLine, Widths> emitted = emitted_of(kernel, file);
    std::map<MarkedLine, int> asked;
    for (const SourceAccess& access : source) { asked[{access.line, access.kind}] = access.bytes; }
    // What is emitted at a line that the source has nothing at belongs to the nearest one that has, or is of no known line.
    std::map<Kind, bool> is_open;
    std::map<MarkedLine, Widths> found;
    for (const auto& [at, widths] : emitted) {
        MarkedLine nearest = at;
        for (int apart = 0; apart <= kApart && !asked.contains(nearest); apart++) {
            for (const int line : {at.first - apart, at.first + apart}) {
                if (const MarkedLine other{line, at.second}; asked.contains(other) && !emitted.contains(other)) {
                    nearest = other;
                }
            }
        }
        if (!asked.contains(nearest)) {
            is_open[at.second] = true;
            continue;
        }
        for (const auto& [width, count] : widths) { found[nearest][width] += count; }
    }
    std::map<MarkedLine, std::string> marks;
    for (const auto& [at, bytes] : asked) {
        if (!is_marked(at.second) || bytes <= 0) {
            continue;
        }
        const auto here = found.find(at);
        if (here != found.end()) {
            if (std::string mark = mark_of(here->second, at.second, bytes); !mark.empty()) {
                marks[at] = std::move(mark);
            }
            continue;
        }
        if (is_open[at.second]) {
            continue;
        }
        int with = 0;  // the nearest line whose accesses are wider than the source says
        for (const auto& [other, widths] : found) {
            if (other.second == at.second && is_wider(widths, asked[other]) &&
                (with == 0 || std::abs(other.first - at.first) < std::abs(with - at.first))) {
                with = other.first;
            }
        }
        marks[at] = with != 0 ? fmt::format("with line {}", with) : "none";
    }
    return marks;
}

}  // namespace checker::estimate
