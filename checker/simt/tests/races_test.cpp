// SPDX-License-Identifier: MIT
//
// What orders two threads (clocks.h), and what a race's report says. That each race is found is corpus_test's.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "checker/simt/runtime/races/clocks.h"
#include "checker/tests/output.h"

namespace {

using checker::Finished;
using simt::Acquired;
using simt::acquired_covers;
using simt::BlockClock;
using simt::Release;
using simt::ReleaseLog;

constexpr unsigned kAllLanes = 0xffffffffU;

BlockClock block_of(unsigned threads, std::uint64_t number = 0, simt::Time now = 1) {
    BlockClock clock;
    clock.begin(number, threads, now);
    return clock;
}

TEST(Order, OfABlockComesFromItsBarrier) {
    BlockClock clock = block_of(64);
    EXPECT_LT(clock.known(3, 5), 7U);
    clock.pass_barrier(7);
    EXPECT_GE(clock.known(3, 5), 7U);
    EXPECT_LT(clock.known(3, 5), 8U);
}

TEST(Order, OfAWarpComesFromSyncwarpForTheLanesOfItsMaskOnly) {
    BlockClock clock = block_of(64);
    clock.sync_lanes(0, 0x0000ffffU, kAllLanes, 5);
    EXPECT_EQ(clock.known(3, 15), 5U);
    EXPECT_LT(clock.known(3, 16), 5U);
    EXPECT_LT(clock.known(16, 3), 5U);
    clock.sync_lanes(0, kAllLanes, kAllLanes, 9);
    EXPECT_EQ(clock.known(3, 16), 9U);
    EXPECT_LT(clock.known(35, 36), 5U) << "another warp";
}

TEST(Order, GoesThroughALaneThatMetBoth) {
    BlockClock clock = block_of(32);
    clock.sync_lanes(0, 0b011U, kAllLanes, 5);
    clock.sync_lanes(0, 0b110U, kAllLanes, 6);
    EXPECT_EQ(clock.known(2, 0), 5U);
    EXPECT_LT(clock.known(0, 2), 5U);
}

// A thread of block 0 fences at 4 and raises a flag; a thread of block 1 sees it.
struct Flag {
    BlockClock writer = block_of(32, 0), reader = block_of(32, 1);
    ReleaseLog log;

    void raise(bool beyond_block, bool block_scope = false) {
        writer.wrote[3] = 4;
        writer.fence(3, beyond_block, 4);
        log.releases.push_back(writer.release(3, block_scope, 5));
        reader.see(7, &log, false);
    }
    bool reader_knows(std::uint32_t thread, simt::Time time) const {
        const simt::LaneClock* lane = reader.lane_if_any(7);
        return lane != nullptr && acquired_covers(lane->acquired, 1, {0, thread, false}, time);
    }
};

TEST(Order, ComesFromAFlagWithAFenceOnEachSide) {
    Flag flag;
    flag.raise(true);
    EXPECT_FALSE(flag.reader_knows(3, 4)) << "without the reader's fence";
    flag.reader.fence(7, true, 6);
    EXPECT_TRUE(flag.reader_knows(3, 4));
    EXPECT_FALSE(flag.reader_knows(3, 5)) << "what came after the writer's fence";
    EXPECT_FALSE(flag.reader_knows(2, 4)) << "another thread's, which nothing handed on";
}

TEST(Order, BeyondABlockNeedsAFenceBeyondIt) {
    Flag writer_near;
    writer_near.raise(false);
    writer_near.reader.fence(7, true, 6);
    EXPECT_FALSE(writer_near.reader_knows(3, 4));
    Flag reader_near;
    reader_near.raise(true);
    reader_near.reader.fence(7, false, 6);
    EXPECT_FALSE(reader_near.reader_knows(3, 4));
    Flag scope_near;
    scope_near.raise(true, true);
    scope_near.reader.fence(7, true, 6);
    EXPECT_FALSE(scope_near.reader_knows(3, 4));
}

TEST(Order, ComesFromABarrierWhereTheReaderHasNoFence) {
    Flag flag;
    flag.raise(true);
    flag.reader.pass_barrier(6);
    EXPECT_TRUE(acquired_covers(flag.reader.acquired_by_all(), 1, {0, 3, false}, 4));
}

TEST(Order, GoesThroughABlockThatPassesItOn) {
    Flag flag;
    flag.raise(true);
    flag.reader.fence(7, true, 6);
    flag.reader.wrote[7] = 6;
    ReleaseLog second;
    second.releases.push_back(flag.reader.release(7, false, 7));
    BlockClock third = block_of(32, 2);
    third.see(0, &second, false);
    third.fence(0, true, 8);
    EXPECT_TRUE(acquired_covers(third.lane_if_any(0)->acquired, 2, {0, 3, false}, 4));
    EXPECT_FALSE(acquired_covers(third.lane_if_any(0)->acquired, 2, {0, 3, false}, 5));
}

TEST(Order, HandsOnWhatEachThreadFencedBeforeTheBarrier) {
    BlockClock writer = block_of(64);
    for (unsigned t = 0; t < 64; t++) {
        writer.wrote[t] = 3;
        writer.fence(t, true, 4);
    }
    writer.pass_barrier(5);
    BlockClock reader = block_of(32, 1);
    ReleaseLog log;
    log.releases.push_back(writer.release(0, false, 6));
    reader.see(0, &log, false);
    reader.pass_barrier(7);
    EXPECT_TRUE(acquired_covers(reader.acquired_by_all(), 1, {0, 40, false}, 4));
}

// ---- reports ----------------------------------------------------------------------------------------------------------

Finished run(const std::string& kernel, const std::string& environment) {
    return shell(fmt::format("{} build/tests/simt/kernels/{}", environment, kernel));
}

TEST(Evidence, NamesBothLinesBothThreadsTheBytesTheReasonAndTheSeed) {
    const Finished ran = run("buggy/neighbour_without_barrier", "SIMT_SEED=3");
    EXPECT_EQ(ran.status, 1);
    for (const char* part : {"race shared: tile[", "] of tile[64] is used",
                             "neighbour_without_barrier.cu:12 reads: block (0, 0, 0), thread (",
                             "neighbour_without_barrier.cu:13 writes: block (0, 0, 0), thread (", "__syncthreads()",
                             "64 times", "SIMT_SEED=3"}) {
        EXPECT_TRUE(contains(ran.output, part)) << part << " in\n" << ran.output;
    }
}

TEST(Evidence, IsTheClearestPairOfThreadsOfTwoLines) {
    for (int seed = 1; seed <= 20; seed++) {
        for (const char* kernel : {"tile_between_lanes_and_warps", "tile_overwritten_in_the_next_turn"}) {
            const std::string text = run(fmt::format("buggy/{}", kernel), fmt::format("SIMT_SEED={}", seed)).output;
            EXPECT_TRUE(contains(text, "the threads are of different warps, and no __syncthreads() lies between"))
                << text;
            EXPECT_FALSE(contains(text, "lanes of a warp")) << text;
            EXPECT_FALSE(contains(text, "another")) << text;
        }
    }
}

TEST(Evidence, SaysInALoopWhichTurnCameFirst) {
    for (int seed = 1; seed <= 20; seed++) {
        const std::string environment = fmt::format("SIMT_SEED={}", seed);
        const std::string tile = run("buggy/tile_overwritten_in_the_next_turn", environment).output;
        EXPECT_TRUE(contains(tile, "lies between: read in one turn of the loop, overwritten in the next\n")) << tile;
        const std::string word = run("buggy/word_read_before_the_next_turn", environment).output;
        EXPECT_TRUE(contains(word, "lies between: written in one turn of the loop, read in the next\n")) << word;
        EXPECT_FALSE(contains(run("buggy/tile_between_lanes_and_warps", environment).output, "turn"));
    }
}

TEST(Evidence, InAHelperNamesTheKernelsLineThatCalledItToo) {
    const std::string race = run("buggy/helpers_without_a_barrier", "SIMT_SEED=3").output;
    for (const char* part :
         {"helpers_without_a_barrier.cu:9 (called at checker/simt/tests/kernels/buggy/helpers_without_a_barrier.cu:21) "
          "writes: block (0",
          "helpers_without_a_barrier.cu:13 (called at "
          "checker/simt/tests/kernels/buggy/helpers_without_a_barrier.cu:22) reads: block (0"}) {
        EXPECT_TRUE(contains(race, part)) << part << " in\n" << race;
    }
    const std::string read = run("buggy/helper_reads_past_the_end", "SIMT_SEED=3").output;
    EXPECT_TRUE(contains(read,
                         "helper_reads_past_the_end.cu:9 (called at "
                         "checker/simt/tests/kernels/buggy/helper_reads_past_the_end.cu:23) in kernel, block ("))
        << read;
}

TEST(Evidence, OfStoresByOneLineAsksWhetherTheIndicesAreMeantToBeOne) {
    const std::string blocks = "the same line stored there for threads of two blocks", lanes = "; the same line stores";
    EXPECT_TRUE(contains(run("buggy/rows_overlap", "SIMT_SEED=3").output, blocks));
    EXPECT_TRUE(contains(run("buggy/scatter_to_one_place", "SIMT_SEED=3").output, lanes));
    for (const char* kernel : {"additions_are_lost", "stride_of_the_grid_too_small", "neighbour_without_barrier"}) {
        const std::string text = run(fmt::format("buggy/{}", kernel), "SIMT_SEED=3").output;
        EXPECT_FALSE(contains(text, blocks) || contains(text, lanes)) << text;
    }
}

TEST(Evidence, IsTheSameWheneverItsSeedRuns) {
    for (const char* kernel :
         {"buggy/neighbour_without_barrier", "buggy/sum_without_atomics", "buggy/edge_of_the_next_block"}) {
        EXPECT_EQ(run(kernel, "SIMT_SEED=5").output, run(kernel, "SIMT_SEED=5").output) << kernel;
    }
}

TEST(Evidence, ShowsAWrongValueWhereThereIsOne) {
    for (int seed = 1; seed <= 5; seed++) {
        const Finished ran = run("buggy/additions_are_lost", fmt::format("SIMT_SEED={}", seed));
        EXPECT_TRUE(contains(ran.output, "additions lost")) << ran.output;
    }
}

// ---- other orders of a launch ------------------------------------------------------------------------------------------

TEST(Orders, TheReverseShowsWhatOneOfTwoOrdersHides) {
    for (const char* kernel : {"lock_that_one_block_takes_without_a_fence", "last_warp_reads_what_one_has_not_fenced",
                               "one_of_two_lanes_takes_the_lock_without_a_fence"}) {
        int shown = 0;
        constexpr int kSeeds = 20;
        for (int seed = 1; seed <= kSeeds; seed++) {
            const auto ran = [&](const char* orders) {
                return run(fmt::format("buggy/{}", kernel), fmt::format("SIMT_SEED={} {}", seed, orders));
            };
            shown += ran("SIMT_ORDERS=1").status;
            EXPECT_EQ(ran("").status, 1) << kernel << ", seed " << seed;
        }
        EXPECT_TRUE(shown > 0 && shown < kSeeds) << kernel << " in " << shown;
    }
}

TEST(Orders, AreOneLaunchToTheProgramAndAreCountedWhereSomebodyAsksForThem) {
    const std::string once = "launch 1\nlaunch 2\nlaunch 3\n";
    EXPECT_EQ(run("correct/what_one_order_left", "").output, once);
    EXPECT_EQ(run("correct/what_one_order_left", "SIMT_ORDERS=5").output,
              once + "simt: 3 launches synchronised by atomics or flags and ran in up to 5 orders each\n");
    EXPECT_EQ(run("correct/tiled_matmul", "SIMT_ORDERS=5").output,
              "simt: 0 launches synchronised by atomics or flags and ran in up to 5 orders each\n");
    EXPECT_TRUE(contains(run("correct/tiled_matmul", "SIMT_ORDERS=none").output,
                         "simt: SIMT_ORDERS=none is no number from 1 to 1000; 2 is used\n"));
}

// ---- asynchronous copies ----------------------------------------------------------------------------------------------

TEST(AsyncCopies, AreNamedWithTheirIssueAndWhyTheyHaveNotLanded) {
    const std::vector<std::pair<std::string, std::string>> reasons = {
        {"without_a_wait", "async_copy_without_a_wait.cu:11 and has not waited since\n"},
        {"without_a_commit", ":11 and had committed it to no group when it waited: a wait is for groups\n"},
        {"waits_for_one_group_too_few", ":16 and has waited for all but its newest group, of which it is one\n"},
        {"waits_with_too_many_stages", ":13 and has waited for all but its newest 3 groups, of which it is one\n"},
        {"of_a_thread_that_ends", ":12 and ended without a wait for it\n"}};
    for (const auto& [kernel, reason] : reasons) {
        const Finished ran = run("buggy/async_copy_" + kernel, "SIMT_SEED=2");
        EXPECT_TRUE(contains(ran.output, "that an asynchronous copy is on its way to: tile[")) << ran.output;
        EXPECT_TRUE(contains(ran.output, reason)) << reason << " in\n" << ran.output;
    }
}

TEST(AsyncCopies, AreToldFromPlainAccessesInARace) {
    const Finished unordered = run("buggy/async_copy_without_a_barrier", "SIMT_SEED=2");
    EXPECT_TRUE(contains(unordered.output, "async_copy_without_a_barrier.cu:13 writes by an asynchronous copy: block"))
        << unordered.output;
    EXPECT_TRUE(contains(unordered.output, "the wait for an asynchronous copy is its own thread's, and "))
        << unordered.output;
    const Finished met = run("buggy/async_copy_source_overwritten", "SIMT_SEED=2");
    EXPECT_TRUE(contains(met.output, "is written while an asynchronous copy of it is on its way")) << met.output;
    EXPECT_TRUE(contains(met.output, ".cu:11 reads by an asynchronous copy: block (0, 0, 0), thread (")) << met.output;
}

TEST(AsyncCopies, StillLandAtTheirWaitWhereRacesOrNothingIsLookedFor) {
    EXPECT_EQ(run("buggy/async_copy_without_a_wait", "SIMT_CHECK=noraces").status, 1);
    EXPECT_EQ(run("correct/async_copy_three_stages", "SIMT_CHECK=noraces").status, 0);
    EXPECT_EQ(run("correct/async_copy_three_stages", "SIMT_CHECK=off").status, 0);
    EXPECT_EQ(run("buggy/async_copy_overwritten_before_it_lands", "SIMT_CHECK=noraces").status, 0);
}

TEST(Races, AreNotLookedForWhereTheEnvironmentSaysSo) {
    const Finished ran = run("buggy/neighbour_without_barrier", "SIMT_CHECK=noraces");
    EXPECT_EQ(ran.status, 0) << ran.output;
    EXPECT_EQ(run("buggy/uninitialised_shared", "SIMT_CHECK=noraces").status, 1) << "other checks stay";
    EXPECT_EQ(run("buggy/streams_without_an_event", "SIMT_CHECK=noraces").status, 0) << "between streams";
    EXPECT_EQ(run("buggy/host_refills_before_the_copy_ends", "SIMT_CHECK=noraces").status, 0) << "with the host";
}

TEST(Evidence, OfAnAddressWhereNothingIsMappedCallsItNobodys) {
    const std::string text = run("buggy/pointer_from_nowhere", "SIMT_SEED=3").output;
    EXPECT_TRUE(contains(text, "writes 4 bytes at address 0x1234567890")) << text;
    EXPECT_TRUE(contains(text, "where nothing is mapped: neither the device's memory nor the host's")) << text;
    EXPECT_TRUE(contains(run("buggy/host_pointer", "SIMT_SEED=3").output, "of the host's memory in a kernel"));
}

TEST(Evidence, OfTwoStreamsNamesBothKernelsTheirStreamsAndTheirLaunches) {
    const Finished ran = run("buggy/streams_without_an_event", "SIMT_SEED=3");
    EXPECT_EQ(ran.status, 1);
    for (const char* part :
         {"race streams: byte 0 of a buffer of 128 bytes", "streams_without_an_event.cu:9 writes: fill in stream 1",
          "streams_without_an_event.cu:14 reads: add in stream 2", "launched at ", "block (0, 0, 0), thread (0, 0, 0)",
          "cudaStreamWaitEvent()", "SIMT_SEED=3"}) {
        EXPECT_TRUE(contains(ran.output, part)) << part << " in\n" << ran.output;
    }
}

TEST(Evidence, OfTheHostNamesTheCallThatItDidNotWaitFor) {
    const Finished ran = run("buggy/host_reads_before_the_copy_ends", "SIMT_SEED=3");
    EXPECT_EQ(ran.status, 1);
    for (const char* part : {"race host: byte 124 of a buffer of 128 bytes", "writes: cudaMemcpyAsync in stream 1",
                             "reads: the host", "cudaStreamSynchronize()"}) {
        EXPECT_TRUE(contains(ran.output, part)) << part << " in\n" << ran.output;
    }
}

}  // namespace
