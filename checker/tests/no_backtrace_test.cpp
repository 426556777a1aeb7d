// SPDX-License-Identifier: MIT
//
// The CPU device's lines on a system whose g++ has no libbacktrace.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "checker/base/files.h"
#include "checker/simt/runtime/base/source.h"

namespace {

namespace fs = std::filesystem;

TEST(WithoutLibbacktrace, NoAddressHasALine) {
    const simt::SourceLine& line = simt::source_of(__builtin_return_address(0));
    EXPECT_EQ(simt::text_of(line), "unknown line");
    EXPECT_EQ(simt::at_text_of(line), "");
    EXPECT_EQ(line.caller, nullptr);
}

// scripts/backtrace.sh with a g++ that has only these libraries, written as the script's text that answers
// -print-file-name.
class BacktraceScript : public testing::Test {
  protected:
    BacktraceScript() : folder_(fs::temp_directory_path() / ("no_backtrace_test." + std::to_string(getpid()))) {
        fs::create_directories(folder_);
    }
    ~BacktraceScript() override { fs::remove_all(folder_); }

    checker::Finished run(const std::string& answers, const std::string& object = "") {
        checker::write_file(folder_ / "g++", "#!/bin/sh\ncase $1 in\n" + answers +
                                                 "-print-file-name=*) echo ${1#*=} ;;\n*) exec g++ \"$@\" ;;\nesac\n");
        fs::permissions(folder_ / "g++", fs::perms::owner_all);
        return checker::run_command("scripts/backtrace.sh " + (folder_ / "g++").string() + ' ' + object);
    }
    const fs::path& folder() const { return folder_; }

  private:
    fs::path folder_;
};

TEST_F(BacktraceScript, WritesNothingWhereThereIsNone) {
    const checker::Finished found = run("");
    EXPECT_EQ(found.status, 1);
    EXPECT_EQ(found.output, "");
    EXPECT_EQ(run("", (folder() / "backtrace.o").string()).status, 1);
    EXPECT_FALSE(fs::exists(folder() / "backtrace.o"));
}

TEST_F(BacktraceScript, TakesWhatTheCppLibraryHasUnderNamesOfItsOwn) {
    const checker::Finished own = checker::run_command("scripts/backtrace.sh g++");
    if (own.status != 0) {
        GTEST_SKIP() << "g++ has no libbacktrace";
    }
    const std::string library = (folder() / "libstdc++exp.a").string();
    const std::string names = (folder() / "names").string();
    // As in libstdc++: each name of libbacktrace's begins with __glibcxx_.
    ASSERT_EQ(checker::run_command("file=" + own.output.substr(0, own.output.find('\n')) +
                                   "; nm $file 2>/dev/null | sed -n 's/.* [A-TV-Z] \\(backtrace_.*\\)/\\1 "
                                   "__glibcxx_\\1/p' >" +
                                   names + " && objcopy --redefine-syms=" + names + " $file " + library)
                  .status,
              0);
    const std::string answers = "*libstdc++exp.a) echo " + library + " ;;\n";
    EXPECT_EQ(run(answers).output, library + "\n");
    const std::string object = (folder() / "backtrace.o").string();
    ASSERT_EQ(run(answers, object).status, 0);
    const std::string symbols = checker::run_command("nm " + object).output;
    for (const char* symbol :
         {" T backtrace_create_state\n", " T backtrace_pcinfo\n", " T backtrace_simple\n", " U simt_debug_modules\n"}) {
        EXPECT_NE(symbols.find(symbol), std::string::npos) << symbol << symbols;
    }
    EXPECT_EQ(symbols.find(" dl_iterate_phdr"), std::string::npos) << symbols;
}

}  // namespace
