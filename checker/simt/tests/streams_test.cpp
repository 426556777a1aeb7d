// SPDX-License-Identifier: MIT
//
// In which order, and when, the operations of streams run. That what nothing orders is found is corpus_test's.
#include "checker/simt/runtime/streams/streams.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "checker/simt/runtime/base/errors.h"

namespace {

using simt::Footprint;
using simt::Operation;
using simt::OperationPointer;
using simt::Span;
using simt::Streams;
using simt::Use;

class Queues : public testing::Test {
  protected:
    OperationPointer issue(cudaStream_t stream, const std::string& name) {
        return streams_.issue(stream, {.name = name, .run = [this, name] { ran_ += name; }});
    }

    Streams streams_;
    cudaStream_t first_ = streams_.create(true, nullptr), second_ = streams_.create(true, nullptr);
    cudaStream_t apart_ = streams_.create(false, nullptr);
    std::string ran_;
};

TEST_F(Queues, RunNothingBeforeSomethingWaits) {
    issue(first_, "a");
    issue(nullptr, "b");
    EXPECT_EQ(ran_, "");
    streams_.wait_for_all();
    EXPECT_EQ(ran_, "ab");
}

TEST_F(Queues, NameAStreamThatWentWithTheReset) {
    streams_.destroy(second_);
    EXPECT_EQ(streams_.reason_for_absence(second_), "its stream does not exist, or was destroyed");
    streams_.destroy_all();
    EXPECT_FALSE(streams_.exists(first_));
    EXPECT_EQ(streams_.reason_for_absence(first_),
              "its stream, stream 1 (made at unknown line), went with cudaDeviceReset: is the handle kept in a static "
              "variable?");
    EXPECT_NE(streams_.create(true, nullptr), first_) << "its address is not used again";
}

TEST_F(Queues, RunOnlyWhatIsNeeded) {
    issue(first_, "a");
    issue(second_, "x");
    const OperationPointer wanted = issue(first_, "b");
    issue(first_, "c");
    streams_.wait(wanted);
    EXPECT_EQ(ran_, "ab");
    streams_.wait(second_);
    EXPECT_EQ(ran_, "abx");
}

TEST_F(Queues, OfTheDefaultStreamWaitForBlockingStreamsAndTheseForIt) {
    issue(first_, "a");
    issue(apart_, "x");
    issue(nullptr, "b");
    issue(second_, "c");
    streams_.wait(second_);
    EXPECT_EQ(ran_, "abc") << "and not for the non-blocking one";
}

TEST_F(Queues, OfOneStreamDoNotWaitForAnothers) {
    issue(first_, "a");
    issue(second_, "b");
    streams_.wait(second_);
    EXPECT_EQ(ran_, "b");
}

TEST_F(Queues, WaitForWhatAnEventStoodForWhenTheWaitWasIssued) {
    issue(apart_, "a");
    const OperationPointer recorded = streams_.issue(apart_, {.name = "record"});
    issue(apart_, "b");
    streams_.wait_for_event(first_, recorded);
    issue(first_, "c");
    streams_.wait(first_);
    EXPECT_EQ(ran_, "ac");
}

TEST_F(Queues, WaitForNothingWhereTheEventWasNeverRecorded) {
    issue(apart_, "a");
    streams_.wait_for_event(first_, nullptr);
    issue(first_, "b");
    streams_.wait(first_);
    EXPECT_EQ(ran_, "b");
}

TEST_F(Queues, RunOneMoreWheneverSomebodyLooks) {
    issue(first_, "a");
    const OperationPointer wanted = issue(first_, "b");
    EXPECT_FALSE(streams_.query(wanted));
    EXPECT_EQ(ran_, "a");
    EXPECT_FALSE(streams_.query(wanted));
    EXPECT_EQ(ran_, "ab");
    EXPECT_TRUE(streams_.query(wanted));
    EXPECT_TRUE(streams_.query(first_));
}

TEST_F(Queues, OfTheDefaultStreamAreLookedAtWithWhatTheyWaitFor) {
    issue(first_, "a");
    EXPECT_FALSE(streams_.query(cudaStream_t{nullptr}));
    EXPECT_EQ(ran_, "a");
    EXPECT_TRUE(streams_.query(cudaStream_t{nullptr}));
}

TEST_F(Queues, RunTheirOldestWhenTheyAreFull) {
    for (int i = 0; i < 1025; i++) { issue(first_, "."); }
    EXPECT_GT(ran_.size(), 100U);
    EXPECT_LT(ran_.size(), 1025U);
    streams_.wait(first_);
    EXPECT_EQ(ran_.size(), 1025U);
}

TEST_F(Queues, RunWhenTheyHoldTooMuchOfTheHostsMemory) {
    streams_.issue(first_, {.name = "a", .run = [this] { ran_ += "a"; }, .staged_bytes = std::size_t{200} << 20});
    EXPECT_EQ(ran_, "");
    streams_.issue(first_, {.name = "b", .run = [this] { ran_ += "b"; }, .staged_bytes = std::size_t{200} << 20});
    EXPECT_NE(ran_, "");
}

TEST_F(Queues, OutliveTheirStream) {
    issue(first_, "a");
    streams_.destroy(first_);
    EXPECT_FALSE(streams_.exists(first_));
    streams_.wait_for_all();
    EXPECT_EQ(ran_, "a");
}

TEST_F(Queues, AreCalledByTheNameThatTheyAreGiven) {
    EXPECT_NE(streams_.name_of(second_).find("stream 2"), std::string::npos);
    streams_.name(second_, "ctx.stream");
    EXPECT_EQ(streams_.name_of(second_), "ctx.stream");
    EXPECT_EQ(streams_.name_of(nullptr), "the default stream");
}

TEST(Seeds, ChooseAmongOperationsThatNothingOrders) {
    std::set<std::string> orders;
    for (std::uint64_t seed = 1; seed <= 20; seed++) {
        simt::set_seed(seed);
        Streams streams;
        std::string ran;
        for (const char* name : {"a", "b", "c"}) {
            streams.issue(streams.create(true, nullptr), {.name = name, .run = [&ran, name] { ran += name; }});
        }
        streams.wait_for_all();
        orders.insert(ran);
    }
    simt::set_seed(1);
    EXPECT_GE(orders.size(), 4U);
}

// ---- what operations have touched -------------------------------------------------------------------------------------

std::vector<std::string> conflicts(const Footprint& a, const Footprint& b) {
    std::vector<std::string> found;
    for_each_conflict(a, b, [&](Use, const Span& one, Use, const Span& other) {
        found.push_back(std::to_string(std::max(one.begin, other.begin)) + "-" +
                        std::to_string(std::min(one.end, other.end)));
    });
    return found;
}

Footprint footprint(Use use, std::vector<std::pair<std::uintptr_t, std::uintptr_t>> spans) {
    Footprint touched;
    for (const auto& [begin, end] : spans) { touched.add(use, {begin, end, nullptr}); }
    return touched;
}

TEST(Footprints, ConflictWhereTheyMeetAndOneWrites) {
    const Footprint writes = footprint(Use::write, {{0, 8}, {16, 24}});
    const Footprint reads = footprint(Use::read, {{4, 20}});
    EXPECT_EQ(conflicts(writes, reads), (std::vector<std::string>{"4-8", "16-20"}));
    EXPECT_TRUE(conflicts(reads, reads).empty());
    EXPECT_TRUE(conflicts(writes, footprint(Use::write, {{8, 16}})).empty()) << "they only touch";
}

TEST(Footprints, DoNotConflictWhereBothAreStrong) {
    const Footprint atomics = footprint(Use::strong_write, {{0, 4}});
    EXPECT_TRUE(conflicts(atomics, atomics).empty());
    EXPECT_EQ(conflicts(atomics, footprint(Use::read, {{0, 4}})).size(), 1U);
    EXPECT_EQ(conflicts(footprint(Use::strong_read, {{0, 4}}), footprint(Use::write, {{0, 4}})).size(), 1U);
}

TEST(Footprints, JoinWhatGoesOnAndSortWhatDoesNot) {
    Footprint touched = footprint(Use::read, {{8, 12}, {12, 16}, {0, 4}, {2, 6}});
    EXPECT_EQ(touched.of(Use::read).size(), 3U);
    touched.settle();
    ASSERT_EQ(touched.of(Use::read).size(), 2U);
    EXPECT_EQ(touched.find(Use::read, 5, 6)->begin, 0U);
    EXPECT_EQ(touched.find(Use::read, 6, 8), nullptr);
    EXPECT_EQ(touched.find(Use::read, 15, 20)->begin, 8U);
}

}  // namespace
