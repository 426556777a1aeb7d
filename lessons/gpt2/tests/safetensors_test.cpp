// SPDX-License-Identifier: MIT
#include "checker/cases/safetensors.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "lessons/gpt2/tests/support.h"

using checker::DType;
using checker::FileError;
using checker::SafeTensors;

namespace {

std::span<const std::byte> as_bytes(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

// What opening these bytes complains about; "" where they are accepted.
std::string refusal(const std::string& bytes) {
    const std::string message = message_of([&] { SafeTensors::from_memory(as_bytes(bytes), "weights"); });
    EXPECT_EQ(message.find('\n'), std::string::npos) << "more than one line: " << message;
    EXPECT_TRUE(message.empty() || message.starts_with("weights: ")) << message;
    return message;
}

std::string refusal(std::string_view header, std::string_view data) {
    return refusal(safetensors_bytes(header, data));
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST(SafeTensors, ReadsTensorsAndMetadataFromAFile) {
    const TemporaryFolder folder;
    write_text(
        folder / "x.safetensors",
        safetensors_bytes(R"({"__metadata__":{"case":"x"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]},)"
                          R"("b":{"dtype":"I32","shape":[],"data_offsets":[0,4]}}   )",
                          std::string("\x07\0\0\0\0\0\x80\x3f\0\0\0\xc0", 12)));
    const SafeTensors file = SafeTensors::open(folder / "x.safetensors");

    ASSERT_EQ(file.tensors().size(), 2u);
    EXPECT_EQ(file.metadata().at("case"), "x");
    EXPECT_EQ(file.at("a").shape, (std::vector<long>{2, 1}));
    EXPECT_EQ(file.at("a").elements(), 2);
    EXPECT_EQ(file.at("b").i32()[0], 7);
    EXPECT_EQ(file.at("b").elements(), 1);
    ASSERT_EQ(file.at("a").bytes.size(), 8u);
    float values[2];
    std::memcpy(values, file.at("a").bytes.data(), sizeof(values));
    EXPECT_EQ(values[0], 1.0f);
    EXPECT_EQ(values[1], -2.0f);
}

TEST(SafeTensors, ViewsStayValidWhenTheFileIsMoved) {
    const std::vector<StoredTensor> tensors{{"a", DType::f32, {2}, {1, 2}}};
    const TemporaryFolder folder;
    write_text(folder / "x", safetensors_bytes(tensors));
    SafeTensors first = SafeTensors::open(folder / "x");
    const SafeTensors second = std::move(first);
    EXPECT_EQ(second.at("a").f32()[1], 2.0f);
}

TEST(SafeTensors, AcceptsAnEmptyTensorAndNoTensorAtAll) {
    EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[3,0],"data_offsets":[0,0]}})", ""), "");
    EXPECT_EQ(refusal("{}", ""), "");
}

TEST(SafeTensors, RefusesAFileShorterThanItsLengthField) {
    EXPECT_TRUE(contains(refusal("1234567"), "truncated"));
    EXPECT_TRUE(contains(refusal(""), "truncated"));
}

TEST(SafeTensors, RefusesAHeaderLongerThanTheFile) {
    std::string bytes = safetensors_bytes("{}", "");
    bytes[0] = 3;
    EXPECT_TRUE(contains(refusal(bytes), "truncated: the header is 3 bytes, but only 2 follow")) << refusal(bytes);
}

TEST(SafeTensors, RefusesAHeaderThatClaimsExabytes) {
    EXPECT_TRUE(contains(refusal(std::string(8, '\xff') + "{}"), "18446744073709551615 bytes"));
}

TEST(SafeTensors, RefusesEveryTruncationOfAGoodFile) {
    const std::vector<StoredTensor> tensors{{"a", DType::f32, {3}, {1, 2, 3}}, {"b", DType::bf16, {2}, {1, 2}}};
    const std::string bytes = safetensors_bytes(tensors);
    ASSERT_EQ(refusal(bytes), "");
    for (std::size_t n = 0; n < bytes.size(); n++) { EXPECT_NE(refusal(bytes.substr(0, n)), "") << n << " bytes"; }
}

TEST(SafeTensors, NeverCrashesOnAFlippedBit) {
    const std::vector<StoredTensor> tensors{{"a", DType::f32, {3}, {1, 2, 3}}, {"b", DType::bf16, {2}, {1, 2}}};
    const std::string good = safetensors_bytes(tensors);
    for (std::size_t bit = 0; bit < 8 * good.size(); bit++) {
        std::string bytes = good;
        bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
        try {
            const SafeTensors file = SafeTensors::from_memory(as_bytes(bytes), "weights");
            for (const auto& tensor : file.tensors()) {
                EXPECT_LE(tensor.bytes.data() + tensor.bytes.size(), as_bytes(bytes).data() + bytes.size());
            }
        } catch (const FileError&) {}  // refused: as good as read
    }
}

TEST(SafeTensors, RefusesAHeaderThatIsNotJson) {
    EXPECT_TRUE(contains(refusal("{\"a\":", ""), "is not JSON"));
    EXPECT_TRUE(contains(refusal("\x80\xff", ""), "is not JSON"));
    EXPECT_TRUE(contains(refusal("{} x", ""), "is not JSON"));
    EXPECT_TRUE(contains(refusal("", ""), "is not JSON"));
}

TEST(SafeTensors, RefusesAHeaderThatIsNotAnObject) {
    EXPECT_TRUE(contains(refusal("[]", ""), "not a JSON object")) << refusal("[]", "");
    EXPECT_TRUE(contains(refusal("3", ""), "not a JSON object"));
    EXPECT_TRUE(contains(refusal("null", ""), "not a JSON object"));
}

TEST(SafeTensors, RefusesDeepNestingWithoutRecursion) {
    EXPECT_NE(refusal(std::string(1'000'000, '['), ""), "");
    std::string nested;
    for (int i = 0; i < 100'000; i++) { nested += "{\"a\":"; }
    EXPECT_NE(refusal(nested, ""), "");
}

TEST(SafeTensors, RefusesValuesOfTheWrongKind) {
    for (const std::string header :
         {R"({"a":3})", R"({"a":[]})", R"({"a":"F32"})", R"({"a":null})", R"({"a":{"dtype":3}})",
          R"({"a":{"shape":3}})", R"({"a":{"shape":[[1]]}})", R"({"a":{"shape":["1"]}})", R"({"a":{"shape":[null]}})",
          R"({"a":{"dtype":{"x":1}}})", R"({"__metadata__":{"a":3}})", R"({"__metadata__":[]})",
          R"({"__metadata__":"x"})", R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4],"more":"x"}})"}) {
        EXPECT_NE(refusal(header, "1234"), "") << header;
    }
}

TEST(SafeTensors, RefusesATensorThatLacksAField) {
    EXPECT_TRUE(contains(refusal(R"({"a":{"shape":[],"data_offsets":[0,4]}})", "1234"), "lacks its dtype"));
    EXPECT_TRUE(contains(refusal(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", "1234"), "lacks its shape"));
    EXPECT_TRUE(contains(refusal(R"({"a":{"dtype":"F32","shape":[]}})", "1234"), "lacks its data_offsets"));
}

TEST(SafeTensors, RefusesTheSameNameTwice) {
    const std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                               R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
    EXPECT_TRUE(contains(refusal(header, "12"), "names \"a\" twice")) << refusal(header, "12");
}

TEST(SafeTensors, RefusesTheSameFieldTwice) {
    EXPECT_NE(refusal(R"({"a":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}})", "1"), "");
    EXPECT_NE(refusal(R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "1"), "");
}

TEST(SafeTensors, RefusesAnUnknownDtype) {
    const std::string message = refusal(R"({"a":{"dtype":"F4","shape":[1],"data_offsets":[0,1]}})", "1");
    EXPECT_TRUE(contains(message, "tensor \"a\" the dtype \"F4\"")) << message;
}

TEST(SafeTensors, RefusesAShapeWhoseProductOverflows) {
    const std::string message =
        refusal(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", "");
    EXPECT_TRUE(contains(message, "more than any file can hold")) << message;
    EXPECT_NE(refusal(R"({"a":{"dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,0]}})", ""), "");
    EXPECT_NE(refusal(R"({"a":{"dtype":"F32","shape":[18446744073709551615,0],"data_offsets":[0,0]}})", ""), "");
}

TEST(SafeTensors, RefusesANegativeDimension) {
    const std::string message = refusal(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "1234");
    EXPECT_TRUE(contains(message, "negative number -1")) << message;
}

TEST(SafeTensors, RefusesAFractionalDimension) {
    EXPECT_NE(refusal(R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", "1234"), "");
}

TEST(SafeTensors, RefusesMoreDimensionsThanAnyTensorHas) {
    std::string shape = "1";
    for (int i = 0; i < 100; i++) { shape += ",1"; }
    EXPECT_NE(refusal(R"({"a":{"dtype":"U8","shape":[)" + shape + R"(],"data_offsets":[0,1]}})", "1"), "");
}

TEST(SafeTensors, RefusesBytesThatDoNotMatchShapeAndDtype) {
    const std::string message = refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "1234");
    EXPECT_TRUE(contains(message, "holds 4 bytes, but its shape (2) in F32 makes 8")) << message;
}

TEST(SafeTensors, RefusesOffsetsOutOfTheFile) {
    EXPECT_TRUE(contains(refusal(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "123"), "truncated"));
    EXPECT_NE(refusal(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[18446744073709551614,2]}})", "123"), "");
    EXPECT_NE(refusal(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[2,1]}})", "123"), "");
    EXPECT_NE(refusal(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", "1"), "");
    EXPECT_NE(refusal(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,1]}})", "1"), "");
}

TEST(SafeTensors, RefusesOverlappingTensors) {
    const std::string message = refusal(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                                        R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                                        "123");
    EXPECT_TRUE(contains(message, "tensors \"a\" and \"b\" overlap")) << message;
}

TEST(SafeTensors, RefusesAHoleBetweenTensors) {
    const std::string message = refusal(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                        R"("b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
                                        "123");
    EXPECT_TRUE(contains(message, "1 bytes before tensor \"b\" belong to no tensor")) << message;
}

TEST(SafeTensors, RefusesBytesAfterTheLastTensor) {
    const std::string message = refusal(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "123");
    EXPECT_TRUE(contains(message, "oversized: 2 bytes after the last tensor")) << message;
}

TEST(SafeTensors, RefusesAMisalignedTensorOnlyWhereItIsReadInPlace) {
    // A header of odd length: the published GPT-2 files are so, and a loader that copies can read them.
    const std::string bytes =
        safetensors_bytes(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}} )", std::string(4, '\0'));
    ASSERT_NE(bytes.size() % 4, 0u);
    std::vector<std::max_align_t> storage(bytes.size());
    std::memcpy(storage.data(), bytes.data(), bytes.size());
    const auto stored = std::as_bytes(std::span(storage)).first(bytes.size());
    const SafeTensors file = SafeTensors::from_memory(stored, "weights");
    EXPECT_EQ(file.at("a").bytes.size(), 4u);
    EXPECT_TRUE(contains(message_of([&] { file.at("a").f32(); }), "misaligned"));
}

TEST(SafeTensors, RefusesToReadATensorAsAnotherDtype) {
    const std::vector<StoredTensor> tensors{{"a", DType::f64, {1}, {1}}};
    const std::string bytes = safetensors_bytes(tensors);
    const SafeTensors file = SafeTensors::from_memory(as_bytes(bytes), "weights");
    EXPECT_EQ(message_of([&] { file.at("a").f32(); }), "weights: tensor \"a\" is F64, but F32 is needed here");
}

TEST(SafeTensors, NamesTheNearestTensorsWhenOneIsMissing) {
    const std::vector<StoredTensor> tensors{{"h.0.ln_1", DType::f32, {1}, {1}}, {"logits", DType::f32, {1}, {1}}};
    const std::string bytes = safetensors_bytes(tensors);
    const SafeTensors file = SafeTensors::from_memory(as_bytes(bytes), "weights");
    EXPECT_EQ(file.find("h.0.ln1"), nullptr);
    EXPECT_EQ(message_of([&] { file.at("h.0.ln1"); }),
              "weights: has no tensor \"h.0.ln1\"; the nearest names are \"h.0.ln_1\", \"logits\"");
}

TEST(SafeTensors, KeepsTerminalCommandsOutOfItsMessages) {
    const std::string message = refusal(R"({"\u001b[2J\n":{"dtype":"X","shape":[1],"data_offsets":[0,1]}})", "1");
    EXPECT_EQ(message.find('\x1b'), std::string::npos);
    EXPECT_TRUE(contains(message, "\"?[2J?\"")) << message;
}

TEST(SafeTensors, RefusesAFolderAMissingFileAndAPipe) {
    const TemporaryFolder folder;
    EXPECT_TRUE(contains(message_of([&] { SafeTensors::open(folder.path()); }), "is a directory"));
    EXPECT_TRUE(contains(message_of([&] { SafeTensors::open(folder / "none"); }), "No such file"));
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    EXPECT_TRUE(contains(message_of([&] { SafeTensors::open(folder / "pipe"); }), "not a regular file"));
}

TEST(SafeTensors, RefusesAFileThatMayNotBeRead) {
    if (geteuid() == 0) {
        GTEST_SKIP() << "root may read every file";
    }
    const TemporaryFolder folder;
    write_text(folder / "x", safetensors_bytes("{}", ""));
    std::filesystem::permissions(folder / "x", std::filesystem::perms::none);
    EXPECT_TRUE(contains(message_of([&] { SafeTensors::open(folder / "x"); }), "Permission denied"));
}

TEST(SafeTensors, ReadsEveryCommittedCase) {
    int cases = 0;
    for (const auto& entry : std::filesystem::directory_iterator("reference/cases")) {
        if (entry.path().extension() != ".safetensors") {
            continue;
        }
        const SafeTensors file = SafeTensors::open(entry.path());
        EXPECT_EQ(file.metadata().at("case"), entry.path().stem().string());
        for (const auto& tensor : file.tensors()) {
            if (tensor.dtype == DType::f32) {
                EXPECT_EQ(tensor.f32().size(), static_cast<std::size_t>(tensor.elements()));
            }
        }
        cases++;
    }
    EXPECT_GE(cases, 6);
}
