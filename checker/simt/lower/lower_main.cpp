// SPDX-License-Identifier: MIT
//
// simt-lower: reads the output of g++ -E, writes C++ (see lower.h). Called by simtcc.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "checker/simt/lower/lower.h"
#include "checker/simt/lower/nvcc_refuses.h"
#include "checker/simt/lower/two_sides.h"

namespace {

std::string text_in(const std::string& name) {
    std::ifstream in(name, std::ios::binary);
    if (!in) {
        throw std::runtime_error(name + " cannot be read");
    }
    return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string& name, const std::string& text) {
    std::ofstream out(name, std::ios::binary);
    out << text;
    out.close();
    if (!out) {
        throw std::runtime_error(name + " cannot be written");
    }
}

// A line for each use: place, name, error or warning, and what nvcc says of it, with tabs between them. simtcc puts the
// function's parameters behind its name.
std::string text_of(const std::vector<simt::HostUse>& uses) {
    std::string text;
    for (const simt::HostUse& use : uses) {
        text += use.place + '\t' + use.name + '\t' + (use.is_error ? "error" : "warning") + '\t' +
                (use.is_constexpr ? "constexpr __host__" : "__host__") + '\t' + use.caller + '\n';
    }
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    simt::Purpose purpose = simt::Purpose::checks;
    simt::Linkage linkage = simt::Linkage::file;
    bool relaxed = false;
    std::string marked, uses, host_side;
    const bool host = argc == 3 && std::string_view(argv[2]) == "--host";
    bool understood = argc >= 3;
    for (int i = 3; i < argc; i++) {
        const std::string_view option = argv[i];
        if (option == "--for-debugger") {
            purpose = simt::Purpose::debugger;
        } else if (option == "--relocatable") {
            linkage = simt::Linkage::program;
        } else if (option == "--relaxed-constexpr") {
            relaxed = true;
        } else if (option == "--host-side" && i + 1 < argc) {
            host_side = argv[++i];
        } else if (option == "--host-uses" && i + 2 < argc) {
            marked = argv[++i];
            uses = argv[++i];
        } else {
            understood = false;
        }
    }
    if (!understood) {
        std::fprintf(stderr,
                     "usage: simt-lower INPUT.ii OUTPUT.ii [--for-debugger] [--relocatable] [--relaxed-constexpr]\n"
                     "                  [--host-side HOST.ii]: the same file's, without __CUDA_ARCH__\n"
                     "                  [--host-uses MARKED.ii USES]: written where there are any (nvcc_refuses.h)\n"
                     "       simt-lower INPUT.ii --host\n");
        return 2;
    }
    try {
        const simt::Source source(text_in(argv[1]));
        if (host) {
            simt::refuse(source);
            return 0;
        }
        if (!uses.empty()) {
            const simt::HostUses found = simt::find_host_uses(source, relaxed);
            if (!found.marks.empty()) {
                write(marked, simt::lower(source, purpose, linkage, found.marks));
                write(uses, text_of(found.uses));
            }
        }
        if (host_side.empty()) {
            write(argv[2], simt::lower(source, purpose, linkage));
        } else {
            const simt::BothSides both = simt::both_sides(source, simt::Source(text_in(host_side)));
            std::fputs(both.warning.c_str(), stderr);
            write(argv[2], simt::lower(simt::Source(both.text), purpose, linkage));
        }
    } catch (const simt::SourceError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    } catch (const std::runtime_error& error) {
        std::fprintf(stderr, "simt-lower: %s\n", error.what());
        return 2;
    }
    return 0;
}
