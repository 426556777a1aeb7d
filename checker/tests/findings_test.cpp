// SPDX-License-Identifier: MIT
//
// What is said first of several findings, and why a file is slow.
#include <gtest/gtest.h>

#include "checker/base/files.h"
#include "checker/judge/describe.h"
#include "checker/program/doubles.h"

using namespace checker;

namespace {

std::vector<std::string> kinds(const std::vector<Finding>& findings) {
    std::vector<std::string> kinds;
    for (const Finding& finding : findings) { kinds.push_back(finding.kind); }
    return kinds;
}

TEST(Findings, OfAModelSayTheFirstWrongTensorBeforeWhatReadsIt) {
    std::vector<Finding> findings{{"uninitialised", "reads memory"}, {"untouched", "first"}, {"mismatch", "some"}};
    put_consequences_last(findings, true);
    EXPECT_EQ(kinds(findings), (std::vector<std::string>{"untouched", "mismatch", "uninitialised"}));
}

TEST(Findings, OfAnOpSayFirstThatItReadsUnwrittenMemory) {
    std::vector<Finding> findings{{"uninitialised", "reads memory"}, {"mismatch", "some"}};
    put_consequences_last(findings, false);
    EXPECT_EQ(kinds(findings), (std::vector<std::string>{"uninitialised", "mismatch"}));
}

TEST(FirstDouble, IsTheLineAtWhichAFloatBecomesADouble) {
    const std::filesystem::path file = "build/findings_test/halve.cpp";
    write_file(file, "float halve(float x) {\n    return 0.5 * x;\n}\n");
    EXPECT_EQ(first_double(file), "halve.cpp:2");
}

TEST(FirstDouble, IsNoneOfFloatsAlone) {
    const std::filesystem::path file = "build/findings_test/halve_float.cpp";
    write_file(file, "float halve(float x) {\n    return 0.5f * x;\n}\n");
    EXPECT_EQ(first_double(file), "");
}

}  // namespace
