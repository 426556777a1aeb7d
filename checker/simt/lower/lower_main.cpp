// SPDX-License-Identifier: MIT
//
// simt-lower: reads the output of g++ -E, writes C++ (see lower.h). Called by simtcc.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "checker/simt/lower/lower.h"

int main(int argc, char** argv) {
    simt::Purpose purpose = simt::Purpose::checks;
    simt::Linkage linkage = simt::Linkage::file;
    const bool host = argc == 3 && std::string_view(argv[2]) == "--host";
    bool understood = argc >= 3;
    for (int i = 3; i < argc; i++) {
        const std::string_view option = argv[i];
        if (option == "--for-debugger") {
            purpose = simt::Purpose::debugger;
        } else if (option == "--relocatable") {
            linkage = simt::Linkage::program;
        } else {
            understood = false;
        }
    }
    if (!understood) {
        std::fprintf(stderr,
                     "usage: simt-lower INPUT.ii OUTPUT.ii [--for-debugger] [--relocatable]\n"
                     "       simt-lower INPUT.ii --host\n");
        return 2;
    }
    std::ifstream in(argv[1], std::ios::binary);
    if (!in) {
        std::fprintf(stderr, "simt-lower: %s cannot be read\n", argv[1]);
        return 2;
    }
    try {
        const simt::Source source(std::string(std::istreambuf_iterator<char>(in), {}));
        if (host) {
            simt::refuse(source);
            return 0;
        }
        const std::string lowered = simt::lower(source, purpose, linkage);
        std::ofstream out(argv[2], std::ios::binary);
        out << lowered;
        out.close();
        if (!out) {
            std::fprintf(stderr, "simt-lower: %s cannot be written\n", argv[2]);
            return 2;
        }
    } catch (const simt::SourceError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
