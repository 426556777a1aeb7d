// SPDX-License-Identifier: MIT
#include "checker/base/kept.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "checker/base/files.h"

namespace {

namespace fs = std::filesystem;
using checker::Key;

const fs::path kFolder = "build/tests/kept";

// A key is asked for once: a lasting file is read once in a process.
std::string key_of(const std::function<void(Key&)>& add) {
    Key key;
    add(key);
    return key.value();
}

class Kept : public testing::Test {
  protected:
    void SetUp() override {
        fs::remove_all(kFolder);
        fs::create_directories(kFolder);
    }
};

}  // namespace

TEST_F(Kept, AKeyTellsTextsAndTheirBordersApart) {
    const std::string ab_c = key_of([](Key& key) { key.text("ab"), key.text("c"); });
    EXPECT_EQ(ab_c, key_of([](Key& key) { key.text("ab"), key.text("c"); }));
    EXPECT_NE(ab_c, key_of([](Key& key) { key.text("a"), key.text("bc"); }));
    EXPECT_NE(ab_c, key_of([](Key& key) { key.text("abc"); }));
    EXPECT_EQ(ab_c.size(), 32U);
}

TEST_F(Kept, AKeyChangesWithAFilesContentItsNameAndItsBeingThere) {
    const auto of = [](const char* name) { return key_of([&](Key& key) { key.file(kFolder / name); }); };
    const std::string absent = of("a");
    checker::write_file(kFolder / "a", "");
    const std::string empty = of("a");
    checker::write_file(kFolder / "a", "text");
    checker::write_file(kFolder / "b", "text");
    EXPECT_NE(absent, empty);
    EXPECT_NE(empty, of("a"));
    EXPECT_NE(of("a"), of("b"));
}

TEST_F(Kept, AKeyChangesWithAFileThatADepfileNames) {
    checker::write_file(kFolder / "a.d",
                        "a.o: build/tests/kept/a.h \\\n  build/tests/kept/b.h\nbuild/tests/kept/a.h:\n");
    checker::write_file(kFolder / "a.h", "1");
    const auto key = [] { return key_of([](Key& its) { its.depfile(kFolder / "a.d"); }); };
    const std::string before = key();
    EXPECT_EQ(key(), before);
    checker::write_file(kFolder / "b.h", "");
    const std::string with_both = key();
    EXPECT_NE(with_both, before);
    checker::write_file(kFolder / "a.h", "2");
    EXPECT_NE(key(), with_both);
}

TEST_F(Kept, AKeyChangesWithAFileThatComesIntoAFolderOrGoes) {
    const auto key = [] { return key_of([](Key& its) { its.folder(kFolder); }); };
    const std::string empty = key();
    checker::write_file(kFolder / "deep/a", "1");
    EXPECT_NE(key(), empty);
    fs::remove(kFolder / "deep/a");
    EXPECT_EQ(key(), empty);
}

TEST_F(Kept, AVerdictIsThereUnderItsKeyOnly) {
    unsetenv("SOL_FRESH");  // make test-all keeps nothing
    EXPECT_EQ(checker::kept(kFolder / "stamp", "key"), std::nullopt);
    checker::keep(kFolder / "stamp", "key", "two\nlines");
    EXPECT_EQ(checker::kept(kFolder / "stamp", "key"), "two\nlines");
    EXPECT_EQ(checker::kept(kFolder / "stamp", "ke"), std::nullopt);
    EXPECT_EQ(checker::kept(kFolder / "stamp", "other"), std::nullopt);
    setenv("SOL_FRESH", "1", 1);
    EXPECT_EQ(checker::kept(kFolder / "stamp", "key"), std::nullopt);
    unsetenv("SOL_FRESH");
}
