// SPDX-License-Identifier: MIT
#include "checker/worker/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "checker/worker/shared_buffers.h"

namespace checker {
namespace {

using std::chrono::steady_clock;
constexpr std::size_t kKeptOutput = 4096;
// For a worker that was asked to end: a GPU's context is taken down in it, and a tool around it writes its report then.
// Where a tool slows all down, SOL_TIMEOUT_S is larger, and this is a share of it.
constexpr std::chrono::duration<double> kLeastFarewell = std::chrono::seconds(2);

// What a process has in memory now; 0 where that is not known.
std::size_t resident_bytes(pid_t pid) {
    std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
    std::size_t mapped = 0, resident = 0;
    statm >> mapped >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

// In the child, between fork and exec: only calls that are safe there. Never returns.
[[noreturn]] void become_worker(pid_t parent, int socket, int memory, int output, char* const* argv) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // the worker never outlives the check
    setpgid(0, 0);
    if (getppid() != parent) {
        _exit(127);
    }
    // Where memory runs out, the code under test goes first, not the learner's other programs.
    if (const int score = open("/proc/self/oom_score_adj", O_WRONLY); score >= 0) {
        [[maybe_unused]] const ssize_t written = write(score, "1000", 4);
        close(score);
    }
    // Out of the way first: any of these may be the number that another one is to get.
    constexpr int kAbove = 10;
    socket = fcntl(socket, F_DUPFD, kAbove);
    memory = fcntl(memory, F_DUPFD, kAbove);
    output = fcntl(output, F_DUPFD, kAbove);
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    dup2(socket, kWorkerSocket);
    dup2(memory, kWorkerMemory);
    constexpr int kMostDescriptors = 256;
    for (int fd = kWorkerMemory + 1; fd < kMostDescriptors; fd++) { close(fd); }
    execv("/proc/self/exe", argv);
    _exit(127);
}

}  // namespace

std::chrono::duration<double> worker_limit() {
    constexpr double kSeconds = 30.0;
    const char* text = std::getenv("SOL_TIMEOUT_S");
    const double seconds = text == nullptr ? kSeconds : std::strtod(text, nullptr);
    return std::chrono::duration<double>(seconds > 0.0 ? seconds : kSeconds);
}

std::size_t worker_memory() {
    const char* text = std::getenv("SOL_MEMORY_MIB");
    const double mib = text == nullptr ? 0.0 : std::strtod(text, nullptr);
    if (mib > 0.0) {
        return static_cast<std::size_t>(mib * 1024 * 1024);
    }
    constexpr double kShare = 0.9;
    const std::optional<std::size_t> available = available_bytes();
    return available ? static_cast<std::size_t>(kShare * static_cast<double>(*available))
                     : std::numeric_limits<std::size_t>::max();
}

WorkerProcess::WorkerProcess(std::vector<std::string> arguments, int shared_memory, std::chrono::duration<double> limit)
    : arguments_(std::move(arguments)), shared_memory_(shared_memory), limit_(limit) {
    arguments_.insert(arguments_.begin(), "check-worker");
    arguments_.emplace_back("--worker");
}

WorkerProcess::~WorkerProcess() {
    stop();
}

void WorkerProcess::start() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        fail("socketpair");
    }
    socket_ = FileDescriptor(ends[0]);
    const FileDescriptor its_socket(ends[1]);
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        fail("pipe");
    }
    output_ = FileDescriptor(ends[0]);
    const FileDescriptor its_output(ends[1]);
    std::vector<char*> argv;
    for (std::string& argument : arguments_) { argv.push_back(argument.data()); }
    argv.push_back(nullptr);

    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) {
        fail("fork of the check's worker");
    }
    if (child == 0) {
        become_worker(parent, its_socket.get(), shared_memory_, its_output.get(), argv.data());
    }
    setpgid(child, child);  // here too: whoever comes first
    fcntl(output_.get(), F_SETFL, O_NONBLOCK);
    pid_ = child;
}

void WorkerProcess::stop() {
    socket_ = FileDescriptor(-1);
    if (pid_ > 0) {
        ends_within(std::max(kLeastFarewell, limit_ / 20));
    }
    end();
}

bool WorkerProcess::ends_within(std::chrono::duration<double> time) {
    const auto begin = steady_clock::now();
    for (int i = 0;; i++) {
        siginfo_t ended{};
        waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT);
        read_output();  // one that waits for room in the pipe does not end
        if (ended.si_pid != 0 || !(steady_clock::now() - begin < time)) {
            return ended.si_pid != 0;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(i < 100 ? 1 : 10));
    }
}

void WorkerProcess::end() {
    socket_ = FileDescriptor(-1);
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        end_group();
        waitpid(pid_, nullptr, 0);
    }
    pid_ = -1;
}

void WorkerProcess::end_group() {
    kill(-pid_, SIGKILL);
}

Outcome WorkerProcess::reap() {
    // The socket is closed, so the process is ending; one that only closed the descriptor is ended.
    if (!ends_within(std::chrono::milliseconds(200))) {
        end();
        return {Outcome::Kind::cut_off, {}, 0};
    }
    end_group();  // before its number is free for others
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    socket_ = FileDescriptor(-1);
    if (WIFSIGNALED(status)) {
        return {Outcome::Kind::killed, {}, WTERMSIG(status)};
    }
    if (WEXITSTATUS(status) == kCutOffStatus) {
        return {Outcome::Kind::cut_off, {}, 0};
    }
    return {Outcome::Kind::exited, {}, WEXITSTATUS(status)};
}

Outcome WorkerProcess::ask(const Request& request) {
    if (pid_ < 0) {
        start();
    }
    if (send(socket_.get(), &request, sizeof request, MSG_NOSIGNAL) < 0) {
        return reap();
    }

    const auto begin = steady_clock::now();
    const std::size_t had = resident_bytes(pid_);
    const std::size_t may_take = worker_memory();
    double shown = 0;
    while (true) {
        const std::chrono::duration<double> waited = steady_clock::now() - begin;
        if (!(waited < limit_)) {
            read_output();
            end();
            return {Outcome::Kind::hung, {}, 0};
        }
        if (const std::size_t has = resident_bytes(pid_); has > had && has - had > may_take) {
            read_output();
            end();
            return {Outcome::Kind::out_of_memory, {}, 0, has - had};
        }
        constexpr double kTick = 0.1;
        const double until_next = std::min(kTick, (limit_ - waited).count());
        std::array<pollfd, 2> fds{pollfd{socket_.get(), POLLIN, 0}, pollfd{output_.get(), POLLIN, 0}};
        const int ready = poll(fds.data(), output_.get() >= 0 ? 2 : 1, static_cast<int>(until_next * 1000.0) + 1);
        if (ready < 0 && errno != EINTR) {
            fail("poll");
        }
        if (ready < 0) {
            continue;
        }
        if (on_waiting_ && waited.count() >= shown + 1) {
            shown = waited.count();
            on_waiting_(shown);
        }
        if (fds[1].revents != 0) {
            read_output();
        }
        if (fds[0].revents == 0) {
            continue;
        }
        Outcome outcome;
        const ssize_t got = recv(socket_.get(), &outcome.reply, sizeof outcome.reply, 0);
        read_output();
        if (got != static_cast<ssize_t>(sizeof outcome.reply)) {
            return reap();
        }
        if (outcome.reply.answer == Answer::fault || outcome.reply.answer == Answer::threads || outcome.reply.last) {
            stop();
        }
        return outcome;
    }
}

void WorkerProcess::read_output() {
    std::array<char, 4096> chunk;
    // So much at a time: a program that prints without end must not keep us from looking at the clock.
    for (int i = 0; i < 64 && output_.get() >= 0; i++) {
        const ssize_t got = read(output_.get(), chunk.data(), chunk.size());
        if (got > 0) {
            const std::size_t room = kKeptOutput - std::min(text_.size(), kKeptOutput);
            text_.append(chunk.data(), std::min(static_cast<std::size_t>(got), room));
        } else if (got == 0) {
            output_ = FileDescriptor(-1);
        } else if (errno != EINTR) {
            return;
        }
    }
}

std::string WorkerProcess::take_output() {
    read_output();
    return std::exchange(text_, {});
}

}  // namespace checker
