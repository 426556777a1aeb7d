// SPDX-License-Identifier: MIT
//
// One launch: blocks, warps and threads (lanes), each lane a fiber on the host thread that launches. A block runs
// until its threads have exited or poll memory that another block must change; then up to kResidentBlocks blocks take
// turns.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "checker/simt/include/driver_types.h"
#include "checker/simt/runtime/base/fiber.h"
#include "checker/simt/runtime/base/random.h"
#include "checker/simt/runtime/base/source.h"
#include "checker/simt/runtime/memory/shared.h"
#include "checker/simt/runtime/threads/launch_observer.h"

namespace simt {

inline constexpr unsigned kLanes = 32;

enum class LaneState : std::uint8_t {
    ready,
    polling,
    at_barrier,
    at_collective,
    at_active_mask,
    at_grid_barrier,
    at_partial_barrier,
    trace_full,
    exited
};

enum class CollectiveKind : std::uint8_t {
    sync,
    shuffle,
    ballot,
    any,
    all,
    match_any,
    match_all,
    reduce_unsigned,
    reduce_signed,
    mma,
    load_matrix,
    wmma_load,
    wmma_store,
    wmma_multiply
};

inline constexpr std::uint8_t kTransposed = 8;

// What a lane gives to a warp collective, and what it gets.
struct Collective {
    CollectiveKind kind;
    std::uint8_t operation = 0;  // Shuffle, Reduce or MmaShape; of load_matrix its matrices, and kTransposed
    unsigned mask = 0;
    std::uint64_t value = 0;
    int operand = 0;
    int width = static_cast<int>(kLanes);
    const void* site = nullptr;  // return address
    const char* name = nullptr;  // for findings; null: the kind's own
    std::uint8_t shuffles = 0;   // instructions: 4 bytes each
    std::uint64_t result = 0;
    int predicate = 0;
    const void* operands = nullptr;  // for matrices: MmaRegisters, MatrixRegisters, WmmaTransfer or WmmaProduct
};

struct Block;
struct PartialBarrier;
struct Warp;

// A statement or function with a barrier in it (simt::Within): how often a lane has come to it and left it.
struct BarrierVisit {
    unsigned statement;
    unsigned entered = 0, left = 0;
    unsigned at = 0;  // how many such statements the lane had left in all, when it left this one last
};

struct Lane {
    Context context = nullptr;
    Stack stack;
    Warp* warp = nullptr;
    Block* block = nullptr;
    uint3 thread{};       // threadIdx
    unsigned number = 0;  // in its warp
    LaneState state = LaneState::ready;
    unsigned polls = 0;  // accesses since the lane's turn began that others may wait for: atomics, volatile reads
    unsigned looks = 0;  // polls whose value the lane uses
    std::array<std::uintptr_t, 8> words = {};  // words that it looked at
    unsigned next_word = 0;
    const void* site = nullptr;  // where it waits or polls: return address
    Collective collective{};
    int predicate = 0;                                // at a barrier: what the lane gives, and then the outcome
    const PartialBarrier* partial_barrier = nullptr;  // it waits there; null: it does not
    std::vector<BarrierVisit> barrier_visits;
    unsigned statements_left = 0;
    // Its last access to memory or call of the device: where, and how many statements it had left by then. While it
    // runs, `hot.site` is later.
    const void* used_at = nullptr;
    unsigned used = 0;
};

struct Warp {
    Lane* lanes = nullptr;
    unsigned present = 0;  // lanes that exist
    // Lanes by state; those in none of these masks wait at the block's barrier or the grid's.
    unsigned ready = 0, polling = 0, at_collective = 0, at_active_mask = 0, trace_full = 0, exited = 0;
};

enum class BarrierKind : std::uint8_t { plain, count, all, any };

class AsyncCopies;

struct Block {
    uint3 index{};
    std::vector<Lane> lanes;
    std::vector<Warp> warps;
    unsigned alive = 0;
    std::vector<Lane*> left;  // ended since the last barrier, and had been where one is
    unsigned ended = 0;       // threads, by the last barrier
    struct {
        unsigned arrived = 0;
        BarrierKind kind = BarrierKind::plain;
        const void* site = nullptr;
        bool of_many_lines = false;  // threads have come to others than the site's
        int count = 0;               // predicates that were not 0
    } barrier;
    bool released = false;                // the block has passed a barrier: its warps get a new order
    unsigned slot = 0;                    // shared.h
    bool is_saved = false;                // the slot holds its shared memory, or did when it ran last
    std::shared_ptr<AsyncCopies> copies;  // made by the first one; shared_ptr, so that it may be incomplete here
    std::vector<std::unique_ptr<PartialBarrier>> partial_barriers;

    Block();
    ~Block();
};

// What a launch runs.
struct Launch {
    std::string kernel;
    dim3 grid, block;
    std::size_t dynamic_bytes = 0, static_bytes = 0;  // shared memory of a block
    const Module* module = nullptr;
    void (*body)(const void*, const void* const*) = nullptr;
    const void* code = nullptr;               // the function that has the kernel's body
    const void* const* parameters = nullptr;  // the bits of each
    const char* parameter_block = nullptr;    // holds all of them
    std::size_t parameter_bytes = 0;
    std::vector<const Symbol*> shadows = {};  // device variables whose address in host code is among the parameters
    SourceLine line;                          // the launch's
    const void* entry = nullptr;              // return address that stands for the body's first line
    bool counts_arithmetic = false;           // compiled so (arithmetic.h)
    bool cooperative = false;                 // all blocks are resident at once, and may wait for each other
};

class Scheduler {
  public:
    // The one scheduler that runs every launch: its stacks and blocks are used again.
    static Scheduler& instance();

    // The blocks to run, and the processor time that they may take; 0: they run to their end.
    struct Sample {
        const std::vector<std::uint64_t>& blocks;
        double seconds = 0;
        std::uint64_t cut = 0;  // afterwards: blocks that were cut short or not begun
    };

    // Runs a launch to its end, in the seed's order (0), in its reverse (1), in another one (2), in the reverse of that
    // one (3) and so on: all of its blocks, or those of a sample. Returns cudaSuccess or the error with which the device
    // ends.
    cudaError_t run(const Launch& launch, unsigned order, Sample* sample = nullptr);

    // For lanes, called on their own stacks.
    int barrier(BarrierKind kind, int predicate, const void* site);
    void collective(Collective& request);
    void grid_barrier(const void* site);
    // Returns the phase that the others end by arriving too.
    std::uint32_t arrive(PartialBarrier& partial_barrier, const void* site);
    void wait_for(const PartialBarrier& partial_barrier, std::uint32_t phase, const void* site);
    unsigned active_mask(const void* site);
    void poll(const void* site);            // before an access that others may wait for, or that waits for others
    void poll(std::uintptr_t address);      // the lane uses what it read there, and may wait for a change
    void yield(const void* site);           // lets the others run first
    void wait_for_trace(const void* site);  // lets its warp run first (traffic_trace.h)
    [[noreturn]] void abandon(cudaError_t error);  // the launch ends here, and none of its threads goes on

    const Launch& launch() const { return *launch_; }
    SharedMemory& shared() { return shared_; }
    // Returns the address of an offset in the shared memory of a block: in the window if that block is running, in its
    // slot if another is; nothing if the block is not resident or has not begun (shared.h).
    std::optional<std::uintptr_t> shared_address(uint3 block, std::size_t offset) const;
    std::uint64_t slices() const { return slices_; }
    std::uint64_t launches() const { return launches_; }  // the one that runs among them
    std::uint64_t blocks_ended() const { return blocks_ended_; }

  private:
    Scheduler();
    enum class BlockOutcome { done, polling, at_grid_barrier, failed, cut };

    static void start_lane(boost::context::detail::transfer_t from);
    // Calls begin_launch of all observers, and notes which of them follow the launch.
    void begin_observers(const Launch& launch);
    // Runs the sampled blocks, or all of them; returns how many have begun.
    std::uint64_t run_blocks(Sample* sample);
    Block* new_block(std::uint64_t number);
    void switch_to(Block& block);
    BlockOutcome run_block(Block& block);
    bool run_warp(Block& block, Warp& warp);
    bool run_lanes(Block& block, Warp& warp);
    void resume(Lane& lane);
    void stop_overdue(Lane& lane);
    void suspend(Lane& lane, LaneState state, const void* site);
    void wake(Lane& lane);
    void exit_lane(Lane& lane);
    bool complete_barrier(Block& block);
    void check_early_exits(Block& block);
    void complete_grid_barrier(std::uint64_t blocks);
    bool complete_collective(Warp& warp, unsigned mask);
    void complete_all_collectives(Warp& warp);
    void complete(Block& block, PartialBarrier& partial_barrier);
    void leave_partial_barriers(const Lane& lane);
    void jump_to_scheduler() { context_ = boost::context::detail::jump_fcontext(context_, nullptr).fctx; }
    void resolve_active_mask(Warp& warp);
    void name_deadlock(Block& block);
    void name_endless_polling();
    void release(Block& block, bool completed);
    // Calls a function of all that follow the launch.
    template <class... Parameters>
    void tell(void (*LaunchObserver::*event)(Parameters...), std::type_identity_t<Parameters>... parameters) {
        for (std::size_t i = 0; i < follower_count_; i++) {
            if (followers_[i]->*event != nullptr) {
                (followers_[i]->*event)(parameters...);
            }
        }
    }

    const Launch* launch_ = nullptr;
    cudaError_t error_ = cudaSuccess;
    Context context_ = nullptr;  // of the scheduler, while a lane runs
    StackPool stacks_;
    SharedMemory shared_;
    std::array<const LaunchObserver*, kLaunchObservers> followers_{};
    std::size_t follower_count_ = 0;
    Random random_;
    bool reversed_ = false;  // blocks, warps and lanes
    std::uint64_t launches_ = 0;
    std::uint64_t slices_ = 0;  // turns that lanes have had
    std::uint64_t polls_ = 0;
    std::uint64_t blocks_ended_ = 0;    // in all launches
    Block* loaded_ = nullptr;           // whose shared memory is in place
    std::uint64_t waiting_blocks_ = 0;  // that have not begun
    double block_ends_by_ =
        std::numeric_limits<double>::infinity();  // processor_seconds() at which a block is cut short
    bool cut_ = false;                            // the running block is
    std::deque<Block*> resident_;
    std::vector<std::unique_ptr<Block>> blocks_, idle_;
};

// The CUDA thread that calls a function of the device. When host code calls one, the process ends with a line that
// says so.
Lane& calling_lane();

// "block (0, 0, 0), thread (3, 0, 0)"
std::string text_of(const Lane& lane);
// The same for a block and a thread in it, each given by its number.
std::string thread_text(std::uint64_t block, std::uint32_t thread, dim3 grid, dim3 extent);
std::string running_kernel_name();

}  // namespace simt
