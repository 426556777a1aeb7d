// SPDX-License-Identifier: MIT
//
// The shared memory of blocks that are resident at once.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <vector>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/include/simt/bits.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/threads/scheduler.h"
#include "checker/simt/tests/objects/resident.h"

namespace {

std::set<int*> addresses_of_others;  // variables in blocks other than the one that asks

// Returns the address of the block's own copy of a variable; null if it has none.
int* in_block(const int* variable, unsigned block) {
    const auto address =
        simt::Scheduler::instance().shared_address({block, 0, 0}, simt::shared_offset(variable));
    return address ? *addresses_of_others.insert(reinterpret_cast<int*>(*address)).first : nullptr;
}

}  // namespace

int read_in_block(const int* variable, unsigned block) {
    const int* const there = in_block(variable, block);
    return there == nullptr ? -1 : *there;
}

void write_in_block(const int* variable, unsigned block, int value) {
    if (int* const there = in_block(variable, block); there != nullptr) {
        *there = value;
    }
}

namespace {

template <class Function>
Function* function(const char* name) {
    static void* const object = dlopen("build/tests/simt/objects/resident.so", RTLD_NOW | RTLD_LOCAL);
    if (object == nullptr) {
        throw std::runtime_error(dlerror());
    }
    return reinterpret_cast<Function*>(dlsym(object, name));
}
#define FUNCTION(name) function<decltype(name)>(#name)

class SharedMemory : public testing::Test {
  protected:
    void SetUp() override {
        simt::report_at_exit(false);
        simt::forget_findings();
    }
    void TearDown() override { EXPECT_EQ(cudaFree(memory_), cudaSuccess); }

    void* allocate(std::size_t bytes) {
        EXPECT_EQ(cudaFree(memory_), cudaSuccess);
        EXPECT_EQ(cudaMalloc(&memory_, bytes), cudaSuccess);
        EXPECT_EQ(cudaMemset(memory_, 0, bytes), cudaSuccess);
        return memory_;
    }

    std::vector<SharedSeen> exchange(unsigned blocks, unsigned dynamic_words) {
        std::vector<SharedSeen> seen(std::size_t{blocks} * kSharedArrays);
        const std::size_t bytes = seen.size() * sizeof(SharedSeen);
        FUNCTION(exchange_shared)(static_cast<SharedSeen*>(allocate(bytes)), blocks, dynamic_words);
        EXPECT_EQ(cudaMemcpy(seen.data(), memory_, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
        return seen;
    }

    void* memory_ = nullptr;
};

TEST_F(SharedMemory, KeepsBlocksApartAndReachesAnothers) {
    for (const unsigned blocks : {2U, 7U}) {
        for (const unsigned dynamic_words : {1U, 1500U, 16U}) {
            const std::vector<SharedSeen> all = exchange(blocks, dynamic_words);
            for (unsigned block = 0; block < blocks; block++) {
                for (int array = 0; array < kSharedArrays; array++) {
                    const SharedSeen& seen = all[block * kSharedArrays + array];
                    const int base = 100 * (array + 1);
                    const unsigned next = (block + 1) % blocks, previous = (block + blocks - 1) % blocks;
                    EXPECT_EQ(seen.own_by_offset, seen.own);
                    EXPECT_EQ(seen.last_offset, all[array].last_offset) << "block " << block << ", array " << array;
                    EXPECT_GE(seen.last_offset, 1024U);
                    EXPECT_LT(seen.last_offset, 1U << 18U);
                    EXPECT_EQ(seen.others, base + static_cast<int>(next));
                    EXPECT_EQ(seen.changed, 7000 + base + static_cast<int>(previous));
                    if (array < 2 || dynamic_words > 1) {
                        EXPECT_EQ(seen.own, base + static_cast<int>(block));
                    }
                }
            }
        }
    }
    EXPECT_TRUE(simt::findings().empty());
}

TEST_F(SharedMemory, ReusesSlotsOverLaunches) {
    exchange(5, 1000);
    const std::size_t first = addresses_of_others.size();
    for (int launch = 0; launch < 50; launch++) { exchange(5, 1000); }
    // In another order of blocks a slot may be read that was not before, with two words of each array.
    EXPECT_LE(addresses_of_others.size(), first + 2 * kSharedArrays);
}

TEST_F(SharedMemory, ForgetsDynamicBytesOfEarlierLaunches) {
    exchange(2, 1000);
    auto* const words = static_cast<int*>(allocate(2 * sizeof(int)));
    FUNCTION(read_word_100)(words, reinterpret_cast<unsigned*>(words + 1), 2, 16);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const std::vector<simt::DeviceFinding> findings = simt::findings();
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].kind, simt::Kind::out_of_bounds);
    EXPECT_NE(findings[0].text.find("336 bytes past the end of the 64 bytes of dynamic shared memory"), std::string::npos)
        << findings[0].text;
}

TEST_F(SharedMemory, KeepsHostThreadLocalValues) {
    FUNCTION(set_host_thread_local)(42);
    exchange(5, 1000);
    EXPECT_EQ(FUNCTION(host_thread_local)(), 42);
}

TEST_F(SharedMemory, HasNoOffsetForOtherAddresses) {
    EXPECT_EQ(simt::shared_offset(&addresses_of_others), reinterpret_cast<std::uintptr_t>(&addresses_of_others));
    EXPECT_EQ(simt::shared_address(1024), reinterpret_cast<void*>(1024));
}

}  // namespace
