// SPDX-License-Identifier: MIT
#include "checker/base/stub.h"

#include <gtest/gtest.h>

using checker::extract;
using checker::MarkerError;
using checker::Text;

namespace {

constexpr std::string_view kSource =
    "// header\n"
    "void f(float* out) {\n"
    "    // >>> solution\n"
    "    //~ // TODO: write out.\n"
    "    //~\n"
    "    //~   return;\n"
    "    out[0] = 1;\n"
    "    // <<< solution\n"
    "}\n";

// The one-line message with which a source is refused.
std::string refusal(std::string_view source) {
    try {
        extract(source, "solutions/01_layers/gelu.cpp", Text::stub);
    } catch (const MarkerError& error) { return error.what(); }
    return "accepted";
}

}  // namespace

TEST(Stub, HasTheStubLinesInPlaceOfTheSolution) {
    EXPECT_EQ(extract(kSource, "f.cpp", Text::stub),
              "// header\nvoid f(float* out) {\n    // TODO: write out.\n\n      return;\n}\n");
}

TEST(Stub, SolutionTextHasNeitherMarkersNorStubLines) {
    EXPECT_EQ(extract(kSource, "f.cpp", Text::solution), "// header\nvoid f(float* out) {\n    out[0] = 1;\n}\n");
}

TEST(Stub, KeepsEveryRegionApart) {
    EXPECT_EQ(extract("a\n// >>> solution\nb\n// <<< solution\nc\n// >>> solution\nd\n// <<< solution\ne\n", "f.cpp",
                      Text::stub),
              "a\nc\ne\n");
}

TEST(Stub, RefusesARegionThatIsNotClosedAtTheLineThatOpensIt) {
    EXPECT_EQ(refusal("a\n// >>> solution\nb\n"),
              "solutions/01_layers/gelu.cpp:2: `// >>> solution` without a `// <<< solution` after it");
}

TEST(Stub, RefusesAnEndWithoutABeginning) {
    EXPECT_EQ(refusal("a\nb\n// <<< solution\n"),
              "solutions/01_layers/gelu.cpp:3: `// <<< solution` without a `// >>> solution` before it");
}

TEST(Stub, RefusesARegionInsideARegionAndNamesBothLines) {
    const std::string message = refusal("// >>> solution\na\n// >>> solution\nb\n// <<< solution\n");
    EXPECT_TRUE(message.starts_with("solutions/01_layers/gelu.cpp:3:")) << message;
    EXPECT_NE(message.find("line 1"), std::string::npos) << message;
}

TEST(Stub, RefusesAMisspeltMarker) {
    EXPECT_TRUE(
        refusal("// >>> soluton\na\n// <<< solution\n").starts_with("solutions/01_layers/gelu.cpp:1: not a marker"));
    EXPECT_TRUE(refusal("// >>> solution\na\n//   <<< solution\n").find(":1: `// >>> solution` without") !=
                std::string::npos);
}

TEST(Stub, RefusesAStubLineOutsideARegion) {
    EXPECT_TRUE(refusal("//~ // TODO\n// >>> solution\na\n// <<< solution\n")
                    .starts_with("solutions/01_layers/gelu.cpp:1: `//~` outside a region"));
}

TEST(Stub, RefusesASolutionWithoutARegionBecauseItsStubWouldPass) {
    EXPECT_TRUE(refusal("int f() { return 1; }\n").find("no `// >>> solution` region") != std::string::npos);
}

TEST(Stub, OfAGivenFileIsTheFileWithoutTheLineThatSaysSo) {
    const std::string source = "// header\n// >>> given\nint f() { return 1; }\n";
    EXPECT_TRUE(checker::is_given(source));
    for (const Text text : {Text::stub, Text::solution}) {
        EXPECT_EQ(extract(source, "f.cpp", text), "// header\nint f() { return 1; }\n");
    }
    EXPECT_FALSE(checker::is_given(kSource));
}

TEST(Stub, RefusesAGivenFileThatIsAnExerciseToo) {
    const std::string message = refusal("// >>> given\n" + std::string(kSource));
    EXPECT_TRUE(message.starts_with("solutions/01_layers/gelu.cpp:1: `// >>> given` in a file with")) << message;
}
