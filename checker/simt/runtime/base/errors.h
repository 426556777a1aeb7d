// SPDX-License-Identifier: MIT
//
// What a runtime must keep between two calls: the last errors, the seed, and whether the runtime's own code is at
// work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "checker/simt/include/driver_types.h"
#include "checker/simt/runtime/base/source.h"

namespace simt {

// Decides the order in which blocks and warps run: what was set last, or SIMT_SEED, or 1.
std::uint64_t seed();
void set_seed(std::uint64_t seed);

// For how many seconds of processor time a launch may run in which no block ends: SIMT_TIME_LIMIT, or 30.
double time_limit();
// Returns the seconds for which threads may look at unchanged words: 8, or half of time_limit().
double patience();

// Returns true if launches are counted from now on; SIMT_TRAFFIC and SIMT_ESTIMATE decide it at first.
bool wants_traffic();
void want_traffic(bool wanted);

// While one lives, the clock's signal leaves the running thread alone: it holds locks of the runtime or of the C
// library.
extern volatile int busy_depth;
struct InRuntime {
    InRuntime() { busy_depth = busy_depth + 1; }
    ~InRuntime() { busy_depth = busy_depth - 1; }
    InRuntime(const InRuntime&) = delete;
    InRuntime& operator=(const InRuntime&) = delete;
};

// The device serves one thread of the host at a time, and one that has its turn may take it once more. While operations
// run, their thread has it.
class ApiLock {
  public:
    ApiLock() : lock_(mutex()) {}
    explicit ApiLock(std::try_to_lock_t) : lock_(mutex(), std::try_to_lock) {}
    bool mine() const { return lock_.owns_lock(); }

  private:
    static std::recursive_mutex& mutex();
    std::unique_lock<std::recursive_mutex> lock_;
};

// How many functions of the runtime and of its libraries the program has called, launches by <<<…>>> among them. What such
// a function itself calls is no call of the program's; those that only say what an error was are not counted. The compiler
// calls a hook in each of them (make/build.mk), so that no function can be forgotten.
std::uint64_t api_calls();
// Counts the times that the program has waited for a stream, an event, a copy or the device, as cudaFree does.
void note_wait();
std::uint64_t waits();
// The bytes of device memory that copies from device to device, and memsets, have read and written so far.
struct CopiedBytes {
    std::uint64_t read = 0, written = 0;
};
void note_copy(const CopiedBytes& bytes);
CopiedBytes copied_bytes();
void note_launch_by_configuration(const SourceLine& launch);
// The last launch by <<<...>>> after which nobody has called cudaGetLastError or cudaPeekAtLastError, and no more.
std::optional<SourceLine> take_unchecked_launch();

// What an API function returns: `error`, or the sticky one. Remembers it for cudaGetLastError.
cudaError_t result(cudaError_t error);
// The error of a launch, which no function returns. A sticky one stays with the process, as CUDA documents.
void launch_failed(cudaError_t error, bool sticky, const SourceLine& launch);

// A launch's error that the program has not looked at.
struct UnseenError {
    cudaError_t error;
    SourceLine launch;
};
std::optional<UnseenError> unseen_error();
bool has_sticky_error();

}  // namespace simt
