// SPDX-License-Identifier: MIT
//
// Streams: queues of operations (launches, copies, memsets, events, host functions) that run when something waits for
// them, as late as CUDA allows: what the program forgot to wait for has not happened yet.
//
// An operation runs after the operations that CUDA orders before it ("Implicit Synchronization" and "Events" of the
// CUDA C++ Programming Guide; "Stream synchronization behavior" of the runtime's reference):
//   the one before it in its stream
//   those that are recorded by events for which its stream was told to wait
//   in the legacy default stream: all earlier ones in blocking streams, which wait for it in turn
// SIMT_SEED chooses among operations that nothing orders, and these are compared afterwards: two operations, or an
// operation and an access by the host, that touch the same bytes are a race (kind `race`, space `streams` or `host`)
// unless both only read.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checker/simt/include/driver_types.h"
#include "checker/simt/runtime/base/source.h"
#include "checker/simt/runtime/races/footprint.h"
#include "checker/simt/runtime/streams/work.h"

namespace simt {

// By the number of each stream: how many of its operations have happened before.
using StreamClock = std::vector<std::uint32_t>;

// One launch of a graph.
struct Replay {
    std::string text;  // "the graph launched at main.cu:40 in stream 1 (made at main.cu:12)"
};

struct Operation {
    std::string name;                // "cudaMemcpyAsync", "scale"
    std::function<void()> run = {};  // empty: the operation only orders others
    Footprint touched = {};  // known from the beginning for a copy; for a launch or a host function, once it has run
    std::size_t staged_bytes = 0;  // bytes of the host's memory of which it holds a copy
    bool after_error = false;      // it runs even after a sticky error: a callback
    bool calls_the_host = false;   // a host function or a callback
    bool known_late = false;       // what it touches is known only when it has run
    SourceLine launch = {};        // of a kernel: its launch's
    SourceLine call = {};          // of a call of a library: its own
    dim3 grid = {}, block = {};
    const void* site = nullptr;  // of a copy, a memset, a host function: return address of the call that issued it
    Work work = {};              // what a node of a graph is made of
    std::shared_ptr<const Replay> replay = {};  // of which launch of a graph it is a node; null: of none

    std::uint32_t stream = 0;  // its stream's number
    std::uint32_t number = 0;  // in its stream, from 1
    std::uint64_t issued = 0;  // when, in operations
    StreamClock before = {};   // what happened before it
    std::vector<std::shared_ptr<Operation>> after = {};
    bool done = false;
    bool needed = false;
};
using OperationPointer = std::shared_ptr<Operation>;

std::string text_of_operation(const Operation& operation);  // "scale (made at main.cu:20)"

struct Capture;

class Streams {
  public:
    static Streams& instance();
    Streams();

    // ---- streams: null and cudaStreamLegacy are the legacy default stream, or, where the program is compiled with
    // CUDA_API_PER_THREAD_DEFAULT_STREAM, null is cudaStreamPerThread.
    bool exists(cudaStream_t stream) const;
    // Returns the reason why a stream does not exist: "its stream does not exist, or was destroyed".
    std::string reason_for_absence(cudaStream_t stream) const;
    cudaStream_t create(bool blocking, const void* site);
    void destroy(cudaStream_t stream);  // what was issued into it runs on
    void destroy_all();
    bool is_blocking(cudaStream_t stream) const;
    void use_per_thread_default_stream() { null_is_per_thread_ = true; }
    cudaStream_t key_of(cudaStream_t stream) const;    // null is one of the two default streams
    std::string name_of(cudaStream_t stream) const;    // "stream 1 (made at main.cu:12)"
    void name(cudaStream_t stream, std::string name);  // before anything is issued into it
    // How many the program has made and not destroyed.
    std::size_t count() const { return handles_.size() - lanes_; }

    // ---- a lane of a graph's executable: a non-blocking stream that the program knows nothing of.
    cudaStream_t create_lane();
    void destroy_lane(cudaStream_t lane);

    // Puts it into the stream's queue. The stream must exist. Null: the stream is being captured, and it is a node now.
    OperationPointer issue(cudaStream_t stream, Operation operation,
                           const std::vector<OperationPointer>& also_after = {});
    // All later operations of the stream come after this one.
    void wait_for_event(cudaStream_t stream, const OperationPointer& recorded);

    // ---- the host waits: runs what is needed, and the host knows of it from then on.
    void wait(const OperationPointer& operation);
    void wait(cudaStream_t stream);
    void wait_for_all();
    // Runs these and whatever they need; the host does not learn of it.
    void run(const std::vector<OperationPointer>& targets);
    // Whether it has run; if not, one more of the operations before it runs now.
    bool query(const OperationPointer& operation);
    bool query(cudaStream_t stream);
    // At the end of the process: runs what is left, so that its mistakes are found.
    void drain();

    // The one that was issued first of those that have not run; null where all have.
    OperationPointer first_pending() const { return pending_.empty() ? nullptr : pending_.front(); }

    // Operations so far.
    std::uint64_t issued() const { return time_; }

    // Whether only one stream has ever been used.
    bool alone() const { return blocking_.size() <= 1; }

    // ---- the host's own accesses to memory that the device can use. A strong read lets some more of the work run.
    bool watches_host() const { return !pending_.empty() || !finished_.empty(); }
    void host_access(std::uintptr_t address, std::size_t bytes, Use use, const void* site);

    // Whether a host function of a stream is running: it may not call the runtime.
    bool running() const { return running_ != nullptr; }  // in this thread
    // ", by scale (made at main.cu:20) in the graph launched at main.cu:40 in stream 1": where the operation that is running
    // is a node; otherwise empty.
    std::string text_of_replay() const;
    // What the operation that is running touches, where that is known late.
    void touch(Use use, const Span& span) { running_->touched.add(use, span); }

    // ---- the host goes to sleep, in the thread that issued the last operation, or this thread ends; in others nothing
    // happens. Host functions may be what wakes it or whoever sleeps already: those that wait run with what comes before
    // them, and the host knows of it.
    bool has_host_functions() const;  // for this thread to run
    bool run_host_functions();        // whether there were any
    bool in_host_function() const;

  private:
    // About as many as a GPU's queue holds; beyond that the host waits.
    static constexpr std::size_t kMostPending = 1024;
    static constexpr std::size_t kMostStaged = std::size_t{256} << 20;
    // Of all operations that have run and may still be compared with others; beyond that the oldest are forgotten.
    static constexpr std::size_t kMostKept = 4096;
    static constexpr std::size_t kMostSpansKept = std::size_t{1} << 22;
    static constexpr std::size_t kMostHostAccesses = std::size_t{1} << 16;

    struct Queue {
        std::uint32_t number = 0;
        OperationPointer last;
    };
    struct HostAccess {
        Span span;
        Use use;
        std::uint64_t time;
    };

    Queue& queue_of(cudaStream_t stream);
    OperationPointer behind(cudaStream_t stream);
    void mark_needed(const std::vector<OperationPointer>& targets);
    void run_one(const OperationPointer& operation);
    void learn(const Operation& operation);
    void drop_finished();
    void note_host_access(const HostAccess& access);
    void judge_host_access(const HostAccess& access);
    void settle_guess();
    void compare(const Operation& operation);
    void compare(const Operation& operation, const HostAccess& access) const;
    bool covers(const StreamClock& clock, const Operation& operation) const;
    bool ordered(const Operation& a, const Operation& b) const;
    std::string text_of_side(const Operation& operation, const Span& span) const;
    std::string why(const Operation& a, const Operation& b) const;
    void tell(const Operation& a, Use use_a, const Span& in_a, const Operation& b, Use use_b, const Span& in_b) const;
    void tell_host(const Operation& operation, Use use, const Span& span, Use host_use, const Span& host) const;

    bool null_is_per_thread_ = false;
    struct Handle {
        bool blocking;
        std::string name;  // "stream 1 (made at main.cu:12)"
    };
    std::map<cudaStream_t, Handle> handles_;
    // The names of handles that cudaDeviceReset destroyed. Their addresses are not used again.
    std::map<cudaStream_t, std::string> went_with_reset_;
    std::map<cudaStream_t, Queue> queues_;  // of streams that were used; the default ones' under their handles
    // By a queue's number.
    std::vector<bool> blocking_;
    std::vector<std::string> names_;
    std::vector<std::uint32_t> issued_;
    std::vector<std::uint32_t> free_numbers_;
    int created_ = 0;
    std::size_t lanes_ = 0;
    OperationPointer last_legacy_;
    std::map<std::uint32_t, OperationPointer> last_blocking_;  // since the last one of the legacy stream
    std::deque<OperationPointer> pending_;                     // in the order in which they were issued
    std::deque<OperationPointer> finished_;                    // that something may still be compared with
    std::size_t staged_ = 0;
    std::size_t spans_kept_ = 0;
    StreamClock host_;  // what the host knows to have happened
    std::uint64_t time_ = 0;
    std::deque<HostAccess> host_accesses_;
    std::optional<HostAccess> guess_;  // the host's last plain read: a compare-and-swap that follows makes it no race
    static constinit thread_local Operation* running_;
    std::atomic<pthread_t> issuer_{};  // the host thread that issued the last operation
    std::uintptr_t looked_at_ = 0;     // by the host's last strong read of memory that is not the device's
    int looks_ = 0;                    // at it, in a row
};

}  // namespace simt

struct CUstream_st {};  // only a handle
struct CUevent_st {
    bool timing;
    simt::OperationPointer recorded;  // by the last record; null: none
    std::shared_ptr<double> at;       // seconds, once that has run
    // Where the last record was of a capturing stream: nothing will run there, and it stands for these nodes.
    std::shared_ptr<simt::Capture> capture = {};
    std::vector<cudaGraphNode_t> captured = {};
};
