// SPDX-License-Identifier: MIT
#include "checker/worker/shared_buffers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <cstdint>
#include <stdexcept>

#include "checker/worker/call_buffers.h"

using namespace checker;

namespace {

BufferSpec floats(const std::string& name, long n, Role role = Role::output) {
    return {name, role, Element::f32, Dims("N", {n})};
}

std::uintptr_t address(const void* p) {
    return reinterpret_cast<std::uintptr_t>(p);
}

// A shared file with one buffer of n floats, laid out as for a run.
struct OneBuffer {
    OneBuffer(long n, Schedule schedule_) : schedule(schedule_) {
        const std::vector<BufferSpec> specs{floats("out", n)};
        where = slots_of(specs, schedule).front();
        memory.grow(where.mapped_bytes);
        fill_with_poison(memory.region(where), Element::f32, schedule);
    }
    Schedule schedule;
    BufferSlot where;
    MemoryFile memory;
};

}  // namespace

TEST(BufferSlot, KeepsSixtyFourByteAlignmentInBothSchedules) {
    for (const Schedule schedule : {Schedule::end_aligned, Schedule::start_aligned}) {
        for (const std::size_t bytes : {0U, 1U, 4U, 64U, 100U, 4096U, 4100U, 70000U}) {
            const BufferSlot p = slot_of(bytes, Element::f32, schedule, 0);
            EXPECT_EQ(p.data_offset % 64, 0U) << bytes;
            EXPECT_LE(p.data_offset + bytes, p.mapped_bytes) << bytes;
        }
    }
}

TEST(BufferSlot, StartsAsFarAfterAnAlignmentAsTheBufferAsksFor) {
    for (const Schedule schedule : {Schedule::end_aligned, Schedule::start_aligned}) {
        for (const std::size_t bytes : {0U, 4U, 64U, 4092U, 4096U, 4100U}) {
            const BufferSlot late = slot_of(bytes, Element::f32, schedule, 0, 4);
            EXPECT_EQ(late.data_offset % 64, 4U) << bytes;
            EXPECT_LE(late.data_offset + bytes, late.mapped_bytes) << bytes;
        }
    }
    BufferSpec late = floats("late", 5);
    late.misalignment = 4;
    const std::vector<BufferSpec> specs{late, floats("aligned", 5)};
    const std::vector<BufferSlot> slots = slots_of(specs, Schedule::start_aligned);
    EXPECT_EQ(slots[0].data_offset, 4U);
    EXPECT_EQ(slots[1].data_offset, 0U);
}

TEST(BufferSlot, LeavesLessThanAnAlignmentOfSlackAtTheGuard) {
    for (const std::size_t bytes : {1U, 4U, 64U, 100U, 4096U, 4100U}) {
        const BufferSlot end = slot_of(bytes, Element::f32, Schedule::end_aligned, 0);
        EXPECT_LT(end.mapped_bytes - end.data_offset - bytes, 64U) << bytes;
        EXPECT_EQ(slot_of(bytes, Element::f32, Schedule::start_aligned, 0).data_offset, 0U) << bytes;
    }
}

TEST(BufferSlot, OfSeveralBuffersDoesNotOverlap) {
    const std::vector<BufferSpec> specs{floats("a", 1), floats("b", 5000), floats("c", 0)};
    const std::vector<BufferSlot> slots = slots_of(specs, Schedule::end_aligned);
    for (std::size_t i = 1; i < slots.size(); i++) {
        EXPECT_EQ(slots[i].file_offset, slots[i - 1].file_offset + slots[i - 1].mapped_bytes);
    }
    EXPECT_EQ(file_bytes(slots), slots[2].file_offset + slots[2].mapped_bytes);
}

TEST(BufferSlot, OfASequenceIsOneForEachNameAndSize) {
    const auto call_of = [](long n) {
        Call call;
        call.outputs = {output("out", "N", {n})};
        return call;
    };
    Case c{.name = "turns", .shape = "", .calls = {call_of(4), call_of(5000), call_of(4)}, .sequence = true};
    const auto place = [&](std::size_t call) { return slots_of(c, call, Schedule::start_aligned).front().file_offset; };
    EXPECT_EQ(place(0), place(2));
    EXPECT_NE(place(0), place(1));
    c.calls[2] = {};
    c.calls[2].inputs = {carried_over("out", "N", {4})};
    EXPECT_THROW(place(2), std::logic_error) << "the call before it left another size";
    c.calls[1] = c.calls[0];
    EXPECT_EQ(place(2), place(0));
}

TEST(GuardViolation, IsNotFoundWhereOnlyTheDataWereWritten) {
    for (const Schedule schedule : {Schedule::end_aligned, Schedule::start_aligned}) {
        const OneBuffer b(25, schedule);
        for (std::byte& byte : b.memory.data(b.where)) { byte = std::byte{0}; }
        EXPECT_FALSE(find_guard_violation(b.memory.region(b.where), b.where, schedule).found);
    }
}

TEST(GuardViolation, IsFoundPastTheEnd) {
    for (const Schedule schedule : {Schedule::end_aligned, Schedule::start_aligned}) {
        const OneBuffer b(25, schedule);
        b.memory.region(b.where)[b.where.data_offset + 101] = std::byte{0};
        const GuardViolation guard_violation = find_guard_violation(b.memory.region(b.where), b.where, schedule);
        EXPECT_TRUE(guard_violation.found);
        EXPECT_EQ(guard_violation.offset, 101);
    }
}

TEST(GuardViolation, IsFoundBeforeTheStart) {
    const OneBuffer b(25, Schedule::end_aligned);
    b.memory.region(b.where)[b.where.data_offset - 3] = std::byte{0};
    EXPECT_EQ(find_guard_violation(b.memory.region(b.where), b.where, Schedule::end_aligned).offset, -3);
}

TEST(Poison, DiffersBetweenTheSchedules) {
    for (const Element element : {Element::f32, Element::bf16, Element::f16, Element::f8_e4m3, Element::f8_e5m2,
                                  Element::i8, Element::i32, Element::i64, Element::byte}) {
        EXPECT_NE(poison(Schedule::end_aligned, element), poison(Schedule::start_aligned, element));
    }
}

TEST(Poison, OfFloatingPointElementsIsANaNAndThenALargeNumber) {
    for (const Element element : {Element::f32, Element::bf16, Element::f16, Element::f8_e4m3, Element::f8_e5m2}) {
        std::vector<std::byte> memory(24);
        fill_with_poison(memory, element, Schedule::end_aligned);
        for (const float value : decode(memory, element).values) { EXPECT_TRUE(std::isnan(value)) << name_of(element); }
        fill_with_poison(memory, element, Schedule::start_aligned);
        for (const float value : decode(memory, element).values) { EXPECT_GT(value, 300.0F) << name_of(element); }
    }
}

TEST(MemoryFile, ShowsTheSameBytesThroughTwoMappings) {
    const OneBuffer b(16, Schedule::end_aligned);
    const GuardedMapping mapping(b.memory.fd(), b.where, false);
    mapping.data()[5] = std::byte{42};
    EXPECT_EQ(b.memory.data(b.where)[5], std::byte{42});
}

TEST(MemoryFile, KeepsItsBytesWhenItGrows) {
    MemoryFile memory;
    memory.grow(4096);
    memory.bytes()[7] = std::byte{9};
    memory.grow(1 << 20);
    EXPECT_EQ(memory.bytes()[7], std::byte{9});
    EXPECT_EQ(memory.bytes().size(), 1U << 20);
}

TEST(MemoryFile, MovesItsDescriptor) {
    MemoryFile memory;
    memory.grow(4096);
    const int fd = memory.fd();
    const MemoryFile moved = std::move(memory);
    EXPECT_EQ(moved.fd(), fd);
}

TEST(GuardedMapping, IsAlignedAndInsideItsReservation) {
    const OneBuffer b(25, Schedule::end_aligned);
    const GuardedMapping mapping(b.memory.fd(), b.where, false);
    EXPECT_EQ(address(mapping.data()) % 64, 0U);
    EXPECT_GT(address(mapping.data()), address(mapping.reserved().data()));
    EXPECT_LT(address(mapping.data()) + 100, address(mapping.reserved().data()) + mapping.reserved().size());
}

TEST(GuardedMappingDeathTest, FaultsOneByteBeyondAFullLine) {
    const OneBuffer b(16, Schedule::end_aligned);
    const GuardedMapping mapping(b.memory.fd(), b.where, false);
    volatile std::byte* data = mapping.data();
    data[63] = std::byte{1};
    EXPECT_EXIT(data[64] = std::byte{1}, testing::KilledBySignal(SIGSEGV), "");
}

TEST(GuardedMappingDeathTest, FaultsOneByteBeforeTheStart) {
    const OneBuffer b(16, Schedule::start_aligned);
    const GuardedMapping mapping(b.memory.fd(), b.where, false);
    volatile std::byte* data = mapping.data();
    EXPECT_EXIT(data[-1] = std::byte{1}, testing::KilledBySignal(SIGSEGV), "");
}

TEST(GuardedMappingDeathTest, FaultsOnWritesToAnInput) {
    const OneBuffer b(16, Schedule::end_aligned);
    const GuardedMapping mapping(b.memory.fd(), b.where, true);
    volatile std::byte* data = mapping.data();
    EXPECT_EQ(mapping.data()[0], b.memory.data(b.where)[0]);
    EXPECT_EXIT(data[0] = std::byte{1}, testing::KilledBySignal(SIGSEGV), "");
}
