// SPDX-License-Identifier: MIT
#include "checker/worker/bench.h"

#include <gtest/gtest.h>

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
