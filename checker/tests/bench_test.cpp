// SPDX-License-Identifier: MIT
#include "checker/worker/bench.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "checker/tests/fakes/fake.h"
#include "checker/worker/call_buffers.h"
#include "checker/worker/time_op.h"
#include "lessons/gpt2/context.h"

using namespace checker;

TEST(HostBench, SaysThatThereIsNoRoomForMoreThanTheMachineHas) {
    const std::unique_ptr<Bench> bench = host_bench();
    for (const int exponent : {44, 60}) {  // what a system that promises too much would promise; what none does
        try {
            bench->allocate(std::size_t{1} << exponent);
            FAIL() << "2^" << exponent << " bytes were given";
        } catch (const NoRoom& error) {
            EXPECT_NE(std::string(error.what()).find("GiB more of memory"), std::string::npos) << error.what();
        }
    }
}

TEST(HostBench, GivesPoisonedMemoryFromAPagesStart) {
    const std::unique_ptr<Bench> bench = host_bench();
    const std::byte* memory = bench->allocate(100);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 4096, 0U);
    EXPECT_EQ(memory[0], static_cast<std::byte>(poison(Schedule::end_aligned, Element::byte)));
}

// What lies elsewhere has another place in the caches, for as long as the process lives.
TEST(TimeOp, LetsAllImplementationsWorkInTheSameMemory) {
    constexpr int N = 64, C = 16;
    std::set<const void*> out, scratch, workspace;
    std::set<const Context*> contexts;
    const Timed timed{.shape = "N=64 C=16",
                      .call = {.where = "",
                               .inputs = {normal("inp", "N C", {N, C})},
                               .outputs = {output("out", "N C", {N, C})},
                               .scratch = {{"scratch", [](const Library&) { return kFakeScratchBytes; }}},
                               .run = [&](const Library& library, const Buffers& at) {
                                   library.find<twice>()(at.f32("out"), at.f32("inp"), at.scratch("scratch"), N, C, C);
                                   Context& context = at.kept<Context>();
                                   contexts.insert(&context);
                                   workspace.insert(context.workspace(1000));
                                   out.insert(at.f32("out"));
                                   scratch.insert(at.scratch("scratch"));
                               }}};
    MemoryFile memory;
    memory.grow(file_bytes(places_of(timed_specs(timed, 0), Schedule::start_aligned)));
    ASSERT_EQ(dup2(memory.fd(), kWorkerMemory), kWorkerMemory);
    const Library right("build/tests/fakes/right.so");
    const std::unique_ptr<Bench> bench = host_bench();
    const Reply reply =
        time_op(timed, right, right, {}, {.ask = Ask::time, .rivals = bit(Rival::solution), .seconds = 0.01}, *bench);
    close(kWorkerMemory);
    EXPECT_EQ(reply.answer, Answer::done);
    EXPECT_EQ(contexts.size(), 2u);  // two implementations ran, and what they keep is their own
    EXPECT_EQ(out.size(), 1u);
    EXPECT_EQ(scratch.size(), 1u);
    EXPECT_EQ(workspace.size(), 1u);
}
