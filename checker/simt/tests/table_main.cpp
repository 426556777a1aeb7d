// SPDX-License-Identifier: MIT
//
// Writes the table of what is caught and what is not into the README: each kernel of the corpus, in 20 orders. A kernel
// that does not get its verdict counts in the table, and the program fails.
#include <fmt/core.h>

#include <exception>
#include <fstream>
#include <iterator>
#include <string>

#include "checker/simt/tests/corpus.h"

int main() {
    try {
        const corpus::Table table = corpus::measured_table(corpus::kTableSeeds);
        std::ifstream in(corpus::kReadme);
        const std::string readme(std::istreambuf_iterator<char>(in), {});
        const std::string text = corpus::with_table(readme, corpus::text_of(table, corpus::kTableSeeds));
        if (!(std::ofstream(corpus::kReadme) << text)) {
            fmt::print(stderr, "{} cannot be written\n", corpus::kReadme);
            return 1;
        }
        fmt::print("{}\n", corpus::kReadme);
        if (!(table == corpus::expected_table(corpus::kTableSeeds))) {
            fmt::print(stderr, "not every kernel got its verdict: build/tests/simt/corpus_test says which\n");
            return 1;
        }
    } catch (const std::exception& error) {
        fmt::print(stderr, "simt-table: {}\n", error.what());
        return 1;
    }
}
