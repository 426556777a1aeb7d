// SPDX-License-Identifier: MIT
//
// The parent's side of the worker: starts it, asks, waits with a limit, and starts it anew after it ended.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "checker/base/files.h"
#include "checker/worker/messages.h"

namespace checker {

struct Outcome {
    enum class Kind {
        answered,       // see reply
        exited,         // ended by exit() or a return from main, with `status`
        killed,         // by a signal that it did not report, number in `status`
        cut_off,        // it had closed its end of the socket and ran on; it is gone now
        hung,           // still running when the limit was over; it is gone now
        out_of_memory,  // took `memory`, which is more than it may; it is gone now
    };
    Kind kind = Kind::answered;
    Reply reply;
    int status = 0;
    std::size_t memory = 0;  // bytes
    bool says(Answer answer) const { return kind == Kind::answered && reply.answer == answer; }
};

// 30 s, or what SOL_TIMEOUT_S says.
std::chrono::duration<double> worker_limit();

// Of memory, what a worker may take during one request: nine tenths of what is free, or what SOL_MEMORY_MIB says.
std::size_t worker_memory();

// The worker leads a process group of its own, so that what it starts ends with it.
class WorkerProcess {
  public:
    // `arguments` are those of this program, without its name; the worker gets them and --worker.
    WorkerProcess(std::vector<std::string> arguments, int shared_memory, std::chrono::duration<double> limit);
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;
    ~WorkerProcess();

    // Called about once a second while an answer is awaited, with the seconds so far.
    void on_waiting(std::function<void(double)> f) { on_waiting_ = std::move(f); }

    Outcome ask(const Request& request);

    // Lets the worker end by itself, so that what is around it (a profiler) can write its report; kills it after two
    // seconds, or a twentieth of the limit, and what it has started with it. The next request starts another one, which
    // has made no call yet.
    void stop();

    // What the code under test has printed since the last call; at most the first 4 KiB of it.
    std::string take_output();

  private:
    void start();
    Outcome reap();  // after its socket closed
    void read_output();
    bool ends_within(std::chrono::duration<double> time);
    void end();        // at once
    void end_group();  // kills what is left of the group; the worker is not yet waited for

    std::vector<std::string> arguments_;
    int shared_memory_;
    std::chrono::duration<double> limit_;
    std::function<void(double)> on_waiting_;
    int pid_ = -1;
    FileDescriptor socket_{-1}, output_{-1};
    std::string text_;
};

}  // namespace checker
