// SPDX-License-Identifier: MIT
#include "checker/judge/progress_line.h"

#include <gtest/gtest.h>

#include <memory>

namespace {

class ProgressLine : public testing::Test {
  protected:
    std::int64_t now_ = 0;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{std::tmpfile(), std::fclose};
    checker::ProgressLine line_{file_.get(), [this] { return now_; }};

    void SetUp() override { line_.show(true); }
    void after(double seconds) { now_ = static_cast<std::int64_t>(seconds * 1e9); }
    std::string written() {
        std::string text;
        std::rewind(file_.get());
        for (int letter = std::fgetc(file_.get()); letter != EOF; letter = std::fgetc(file_.get())) {
            text += static_cast<char>(letter);
        }
        return text;
    }
};

TEST_F(ProgressLine, SaysNothingOfACheckThatTakesLessThanTwoSeconds) {
    line_.start("matmul regular");
    after(1.9);
    line_.update("running for 1 s");
    line_.finish();
    EXPECT_EQ(written(), "");
}

TEST_F(ProgressLine, SaysWhatGoesOnFromThenOnThoughEachPieceIsShort) {
    line_.start("matmul regular");
    line_.finish();
    after(2.1);
    line_.start("matmul odd");
    EXPECT_EQ(written(), "\r  matmul odd" + std::string(67, ' '));
    line_.finish();
    EXPECT_EQ(written().substr(80), "\r" + std::string(79, ' ') + "\r") << "and leaves nothing behind";
}

TEST_F(ProgressLine, SaysForHowLongAPieceHasRun) {
    line_.start("timing matmul at N=4096 C=768 OC=50257");
    after(3);
    line_.update("running for 3 s, stopped at 30 s");
    EXPECT_EQ(written().substr(0, 75), "\r  timing matmul at N=4096 C=768 OC=50257: running for 3 s, stopped at 30 s");
}

TEST_F(ProgressLine, SaysNothingWhereNobodyLooks) {
    line_.show(false);
    after(5);
    line_.start("matmul regular");
    line_.update("running for 5 s");
    line_.finish();
    EXPECT_EQ(written(), "");
}

}  // namespace
