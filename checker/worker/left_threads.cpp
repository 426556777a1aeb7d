// SPDX-License-Identifier: MIT
#include "checker/worker/left_threads.h"

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>

namespace checker {
namespace {

constexpr const char* kTasks = "/proc/self/task/";

std::set<pid_t> threads() {
    std::set<pid_t> result;
    for (const auto& entry : std::filesystem::directory_iterator(kTasks)) {
        result.insert(std::stoi(entry.path().filename()));
    }
    return result;
}

struct ThreadState {
    char letter = 'X';   // as in proc(5): R runs, S sleeps; X where there is no such thread any more
    bool ending = true;  // its last instruction is done: a thread that was joined may still be listed so
};

ThreadState state_of(pid_t thread) {
    std::ifstream file(kTasks + std::to_string(thread) + "/stat");
    std::string stat;
    if (!std::getline(file, stat)) {
        return {};
    }
    constexpr unsigned kEnding = 0x4;  // PF_EXITING
    ThreadState state;
    long number = 0;
    unsigned flags = kEnding;
    std::istringstream fields(stat.substr(stat.rfind(')') + 1));  // behind the name, which may hold anything
    fields >> state.letter;
    for (int i = 0; i < 5; i++) { fields >> number; }  // parent, group, session, terminal, its group
    fields >> flags;
    state.ending = (flags & kEnding) != 0;
    return state;
}

// What a thread of this process has taken of the processor.
std::chrono::nanoseconds processor_time(pid_t thread) {
    constexpr unsigned kOfThread = 6;  // the clock of one thread by its number, as pthread_getcpuclockid() makes it
    timespec time{};
    clock_gettime(static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3U | kOfThread), &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

ThreadsBefore::ThreadsBefore() : known_(threads()) {}

int ThreadsBefore::running_now() const {
    using namespace std::chrono_literals;
    constexpr std::chrono::nanoseconds kEnds = 200us, kBetweenLooks = 200us;
    constexpr int kLooks = 5000;  // a thread that gets no processor in all this time has not ended either
    struct Seen {
        std::chrono::nanoseconds first, last;
    };
    std::map<pid_t, Seen> seen;
    for (int look = 0;; look++) {
        int running = 0, awake = 0;
        for (const pid_t thread : threads()) {
            const ThreadState state = state_of(thread);
            if (known_.contains(thread) || state.ending) {
                continue;
            }
            const std::chrono::nanoseconds now = processor_time(thread);
            const auto [at, is_new] = seen.try_emplace(thread, now, now);
            awake += state.letter != 'S' || is_new || now != at->second.last ? 1 : 0;
            running += now - at->second.first > kEnds ? 1 : 0;
            at->second.last = now;
        }
        if (awake == 0 || running > 0 || look == kLooks) {
            return running > 0 ? running : awake;
        }
        std::this_thread::sleep_for(kBetweenLooks);
    }
}

}  // namespace checker
