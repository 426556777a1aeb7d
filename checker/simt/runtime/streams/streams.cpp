// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/streams/streams.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/base/random.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/memory/registered.h"
#include "checker/simt/runtime/races/races.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/report/objects.h"
#include "checker/simt/runtime/streams/capture.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {
namespace {

void join(StreamClock& clock, const StreamClock& other) {
    clock.resize(std::max(clock.size(), other.size()));
    for (std::size_t i = 0; i < other.size(); i++) { clock[i] = std::max(clock[i], other[i]); }
}

void join(StreamClock& clock, const Operation& operation) {
    join(clock, operation.before);
    clock.resize(std::max(clock.size(), std::size_t{operation.stream} + 1));
    clock[operation.stream] = std::max(clock[operation.stream], operation.number);
}

// Of a thread that issues something. When the main thread ends, so does the process, and all that is left runs.
struct ThreadsEnd {
    ~ThreadsEnd() {
        if (gettid() != getpid()) {
            Streams::instance().run_host_functions();
        }
    }
};

std::string verb(Use use) {
    return fmt::format("{}{}", writes(use) ? "writes" : "reads", strong(use) ? " strongly" : "");
}

}  // namespace

constinit thread_local Operation* Streams::running_ = nullptr;

std::string text_of_operation(const Operation& operation) {
    const SourceLine& line = operation.launch.file.empty() ? source_of(operation.site) : operation.launch;
    return fmt::format("{} (made at {})", operation.name, text_of(line));
}

Streams::Streams() {
    running_now.node = [] { return instance().text_of_replay(); };
}

Streams& Streams::instance() {
    static auto& streams = *new Streams;  // never destroyed: what is left runs when the process ends
    return streams;
}

// ---- streams ------------------------------------------------------------------------------------------------------------

cudaStream_t Streams::key_of(cudaStream_t stream) const {
    if (stream == nullptr) {
        return null_is_per_thread_ ? cudaStreamPerThread : cudaStreamLegacy;
    }
    return stream;
}

bool Streams::exists(cudaStream_t stream) const {
    const ApiLock turn;
    const cudaStream_t key = key_of(stream);
    return key == cudaStreamLegacy || key == cudaStreamPerThread || handles_.contains(key);
}

std::string Streams::reason_for_absence(cudaStream_t stream) const {
    const ApiLock turn;
    const auto gone = went_with_reset_.find(stream);
    return gone == went_with_reset_.end()
               ? "its stream does not exist, or was destroyed"
               : fmt::format("its stream, {}, went with cudaDeviceReset: is the handle kept in a static variable?",
                             gone->second);
}

bool Streams::is_blocking(cudaStream_t stream) const {
    const auto handle = handles_.find(stream);
    return handle == handles_.end() || handle->second.blocking;
}

std::string Streams::name_of(cudaStream_t stream) const {
    const cudaStream_t key = key_of(stream);
    const auto handle = handles_.find(key);
    return handle != handles_.end()     ? handle->second.name
           : key == cudaStreamPerThread ? "the per-thread default stream"
                                        : "the default stream";
}

void Streams::name(cudaStream_t stream, std::string name) {
    const ApiLock turn;
    handles_.at(stream).name = std::move(name);
}

cudaStream_t Streams::create_lane() {
    const ApiLock turn;
    auto* const stream = new CUstream_st;
    handles_[stream] = {false, "a lane of a graph"};
    lanes_++;
    return stream;
}

void Streams::destroy_lane(cudaStream_t lane) {
    const ApiLock turn;
    destroy(lane);
    lanes_--;
}

cudaStream_t Streams::create(bool blocking, const void* site) {
    const ApiLock turn;
    auto* const stream = new CUstream_st;
    handles_[stream] = {blocking, fmt::format("stream {} (made at {})", ++created_, text_of(source_of(site)))};
    return stream;
}

void Streams::destroy(cudaStream_t stream) {
    const ApiLock turn;
    if (const auto queue = queues_.find(stream); queue != queues_.end()) {
        const OperationPointer& last = queue->second.last;
        const bool named = std::any_of(finished_.begin(), finished_.end(), [&](const OperationPointer& operation) {
            return operation->stream == queue->second.number;
        });
        if (!named && (last == nullptr || (last->done && covers(host_, *last)))) {
            free_numbers_.push_back(queue->second.number);
        }
        queues_.erase(queue);
    }
    handles_.erase(stream);
    if (!went_with_reset_.contains(stream)) {
        delete stream;
    }
}
void Streams::destroy_all() {
    while (!handles_.empty()) {
        forget_object(handles_.begin()->first);
        went_with_reset_[handles_.begin()->first] = handles_.begin()->second.name;
        destroy(handles_.begin()->first);
    }
}

Streams::Queue& Streams::queue_of(cudaStream_t stream) {
    const cudaStream_t key = key_of(stream);
    const auto [entry, is_new] = queues_.try_emplace(key);
    Queue& queue = entry->second;
    if (is_new) {
        if (free_numbers_.empty()) {
            free_numbers_.push_back(static_cast<std::uint32_t>(blocking_.size()));
            blocking_.push_back(true);
            names_.emplace_back();
            issued_.push_back(0);
        }
        queue.number = free_numbers_.back();
        free_numbers_.pop_back();
        const auto handle = handles_.find(key);
        blocking_[queue.number] = handle == handles_.end() || handle->second.blocking;
        names_[queue.number] = name_of(key);
    }
    return queue;
}

// ---- order --------------------------------------------------------------------------------------------------------------

bool Streams::covers(const StreamClock& clock, const Operation& operation) const {
    return operation.stream < clock.size() && clock[operation.stream] >= operation.number;
}

bool Streams::ordered(const Operation& a, const Operation& b) const {
    return covers(a.before, b) || covers(b.before, a);
}

OperationPointer Streams::issue(cudaStream_t stream, Operation issued,
                                const std::vector<OperationPointer>& also_after) {
    const ApiLock turn;
    if (Captures::under_way() && Captures::instance().take(key_of(stream), issued)) {
        return nullptr;
    }
    settle_guess();
    issuer_ = pthread_self();
    static thread_local const ThreadsEnd at_its_end;
    Queue& queue = queue_of(stream);
    const auto operation = std::make_shared<Operation>(std::move(issued));
    operation->stream = queue.number;
    operation->number = ++issued_[queue.number];
    operation->issued = ++time_;
    operation->before = host_;
    const auto comes_after = [&](const OperationPointer& other) {
        if (other != nullptr) {
            join(operation->before, *other);
            if (!other->done) {
                operation->after.push_back(other);
            }
        }
    };
    comes_after(queue.last);
    for (const OperationPointer& other : also_after) { comes_after(other); }
    if (key_of(stream) == cudaStreamLegacy) {
        for (const auto& [number, last] : last_blocking_) { comes_after(last); }
        last_blocking_.clear();
        last_legacy_ = operation;
    } else if (blocking_[queue.number]) {
        comes_after(last_legacy_);
        last_blocking_[queue.number] = operation;
    }
    queue.last = operation;
    staged_ += operation->staged_bytes;
    pending_.push_back(operation);
    if (pending_.size() > kMostPending || staged_ > kMostStaged) {
        // A GPU's queue is full at this point, and takes no more before something has run.
        run({pending_.begin(), pending_.begin() + static_cast<long>(pending_.size() / 2 + 1)});
        if (staged_ > kMostStaged) {
            run({pending_.begin(), pending_.end()});
        }
    }
    return operation;
}

void Streams::wait_for_event(cudaStream_t stream, const OperationPointer& recorded) {
    if (recorded != nullptr) {
        issue(stream, {.name = "cudaStreamWaitEvent"}, {recorded});
    }
}

// ---- running ------------------------------------------------------------------------------------------------------------

void Streams::mark_needed(const std::vector<OperationPointer>& targets) {
    for (const OperationPointer& target : targets) { target->needed = true; }
    for (auto operation = pending_.rbegin(); operation != pending_.rend(); ++operation) {
        if ((*operation)->needed) {
            for (const OperationPointer& other : (*operation)->after) { other->needed = true; }
        }
    }
}

void Streams::run(const std::vector<OperationPointer>& targets) {
    const ApiLock turn;
    settle_guess();
    mark_needed(targets);
    std::vector<OperationPointer> open;
    for (const OperationPointer& operation : pending_) {
        if (operation->needed) {
            open.push_back(operation);
        }
    }
    Random random(seed() * 0x9e3779b97f4a7c15U + time_);
    // Without protection keys the device's memory takes long to open and to close: once for all that run one after another,
    // but for what is the host's own code.
    std::optional<OpenMemory> memory;
    while (!open.empty()) {
        // In the order of their issue each one finds done what must come before it. If several can run, one of them is
        // taken.
        std::vector<std::size_t> ready;
        std::vector<bool> seen(blocking_.size());
        for (std::size_t i = 0; i < open.size() && ready.size() < seen.size(); i++) {
            if (!seen[open[i]->stream]) {
                seen[open[i]->stream] = true;
                const auto& after = open[i]->after;
                if (std::all_of(after.begin(), after.end(), [](const OperationPointer& o) { return o->done; })) {
                    ready.push_back(i);
                }
            }
        }
        const std::size_t next = ready.size() == 1 ? ready[0] : ready[random.below(ready.size())];
        const OperationPointer operation = open[next];
        open.erase(open.begin() + static_cast<long>(next));
        if (operation->calls_the_host) {
            memory.reset();
        } else if (!memory && operation->known_late) {  // a copy opens what it moves
            memory.emplace();
        }
        run_one(operation);
    }
    std::erase_if(pending_, [](const OperationPointer& operation) { return operation->done; });
}

void Streams::run_one(const OperationPointer& operation) {
    running_ = operation.get();
    if (operation->run && (!has_sticky_error() || operation->after_error)) {
        Races::instance().collect(operation->known_late ? &operation->touched : nullptr, !alone());
        operation->run();
        Races::instance().collect(nullptr, false);
        operation->touched.settle();
    }
    running_ = nullptr;
    operation->run = nullptr;
    operation->after.clear();
    operation->done = true;
    staged_ -= operation->staged_bytes;
    compare(*operation);
    if (!operation->touched.empty()) {
        finished_.push_back(operation);
        spans_kept_ += operation->touched.spans();
        while (finished_.size() > kMostKept || spans_kept_ > kMostSpansKept) {
            spans_kept_ -= finished_.front()->touched.spans();
            finished_.pop_front();
        }
    }
}

void Streams::learn(const Operation& operation) {
    settle_guess();
    join(host_, operation);
}

// What has happened before everything that is still to come need not be compared any more.
void Streams::drop_finished() {
    std::erase_if(finished_, [&](const OperationPointer& operation) {
        return covers(host_, *operation) &&
               std::all_of(pending_.begin(), pending_.end(),
                           [&](const OperationPointer& other) { return covers(other->before, *operation); });
    });
    spans_kept_ = 0;
    for (const OperationPointer& operation : finished_) { spans_kept_ += operation->touched.spans(); }
    if (!watches_host()) {
        host_accesses_.clear();
    }
}

// ---- waiting ------------------------------------------------------------------------------------------------------------

void Streams::wait(const OperationPointer& operation) {
    if (operation == nullptr || running()) {
        return;
    }
    const ApiLock turn;
    if (!operation->done) {
        run({operation});
    }
    learn(*operation);
    drop_finished();
}

// What the host waits for when it waits for the stream; for the legacy stream it is something after all blocking
// streams.
OperationPointer Streams::behind(cudaStream_t stream) {
    return key_of(stream) == cudaStreamLegacy ? issue(stream, {.name = "cudaStreamSynchronize"})
                                              : queue_of(stream).last;
}

void Streams::wait(cudaStream_t stream) {
    if (!running()) {
        const ApiLock turn;
        wait(behind(stream));
    }
}

void Streams::wait_for_all() {
    const ApiLock turn;
    if (running()) {
        return;
    }
    run({pending_.begin(), pending_.end()});
    host_ = issued_;
    drop_finished();
}

bool Streams::query(const OperationPointer& operation) {
    const ApiLock turn;
    if (operation == nullptr || running()) {
        return true;
    }
    if (operation->done) {
        wait(operation);
        return true;
    }
    mark_needed({operation});
    const auto first =
        std::find_if(pending_.begin(), pending_.end(), [](const OperationPointer& o) { return o->needed; });
    const OperationPointer next = *first;
    for (const OperationPointer& other : pending_) { other->needed = false; }
    run({next});
    return false;
}

bool Streams::query(cudaStream_t stream) {
    const ApiLock turn;
    if (running()) {
        return true;
    }
    if (key_of(stream) != cudaStreamLegacy) {
        return query(queue_of(stream).last);
    }
    std::vector<OperationPointer> last{last_legacy_};
    for (const auto& [number, operation] : last_blocking_) { last.push_back(operation); }
    return std::all_of(last.begin(), last.end(), [&](const OperationPointer& operation) { return query(operation); });
}

void Streams::drain() {
    const ApiLock turn(std::try_to_lock);
    if (!turn.mine()) {
        return;  // another thread's operation never ended
    }
    settle_guess();
    if (!running() && !pending_.empty()) {
        wait_for_all();
        cudaPeekAtLastError();  // there is nobody left who could look at it
    }
}

// ---- the host sleeps ------------------------------------------------------------------------------------------------------

bool Streams::has_host_functions() const {
    if (pthread_equal(issuer_, pthread_self()) == 0 || running()) {
        return false;
    }
    const ApiLock turn;
    return std::any_of(pending_.begin(), pending_.end(),
                       [](const OperationPointer& operation) { return operation->calls_the_host; });
}

bool Streams::run_host_functions() {
    if (!has_host_functions()) {
        return false;
    }
    const ApiLock turn;
    std::vector<OperationPointer> functions;
    std::copy_if(pending_.begin(), pending_.end(), std::back_inserter(functions),
                 [](const OperationPointer& operation) { return operation->calls_the_host; });
    run(functions);
    for (const OperationPointer& function : functions) { learn(*function); }
    drop_finished();
    return true;
}

bool Streams::in_host_function() const {
    return running() && running_->calls_the_host;
}

// ---- what nothing orders --------------------------------------------------------------------------------------------------

void Streams::compare(const Operation& operation) {
    if (operation.touched.empty() || !Races::instance().wanted()) {
        return;
    }
    for (const OperationPointer& other : finished_) {
        if (!ordered(operation, *other)) {
            for_each_conflict(operation.touched, other->touched,
                              [&](Use use, const Span& span, Use other_use, const Span& other_span) {
                                  tell(operation, use, span, *other, other_use, other_span);
                              });
        }
    }
    if (operation.known_late) {
        for (const HostAccess& access : host_accesses_) {
            if (access.time >= operation.issued) {
                compare(operation, access);
            }
        }
    }
}

void Streams::compare(const Operation& operation, const HostAccess& access) const {
    operation.touched.for_each_conflict(access.use, access.span, [&](Use use, const Span& span) {
        tell_host(operation, use, span, access.use, access.span);
    });
}

void Streams::note_host_access(const HostAccess& access) {
    // An array that the host walks through counts as one access; so do a few arrays that it walks through at once.
    constexpr std::size_t kLookBack = 8;
    const std::size_t most = std::min(kLookBack, host_accesses_.size());
    for (std::size_t i = 0; i < most; i++) {
        HostAccess& last = host_accesses_[host_accesses_.size() - 1 - i];
        if (last.span.site == access.span.site && last.use == access.use && last.time == access.time &&
            access.span.begin <= last.span.end && access.span.end >= last.span.begin) {
            last.span.begin = std::min(last.span.begin, access.span.begin);
            last.span.end = std::max(last.span.end, access.span.end);
            return;
        }
    }
    if (host_accesses_.size() < kMostHostAccesses) {
        host_accesses_.push_back(access);
    }
}

void Streams::host_access(std::uintptr_t address, std::size_t bytes, Use use, const void* site) {
    const ApiLock turn(std::try_to_lock);
    if (!turn.mine()) {
        return;  // what another thread runs may wait for this one, as a kernel for its flag
    }
    const Memory& memory = Memory::instance();
    const bool of_the_device = memory.contains(address) && !memory.is_device_only(address);
    if (!of_the_device && !is_registered(reinterpret_cast<const void*>(address), bytes)) {
        constexpr int kLooks = 1000;  // then the host polls what a host function may change
        if (use == Use::strong_read) {
            looks_ = std::exchange(looked_at_, address) == address ? looks_ + 1 : 0;
            if (looks_ == kLooks) {
                looks_ = 0;
                run_host_functions();
            }
        }
        return;
    }
    const HostAccess access{{address, address + bytes, site}, use, time_};
    const Span& span = access.span;
    if (running()) {
        running_->touched.add(use, span);
        return;
    }
    if (use == Use::strong_read) {  // who polls sees the work go on
        if (!pending_.empty()) {
            run({pending_.front()});
        }
        for (const OperationPointer& operation : std::deque(finished_)) {
            if (operation->touched.find(Use::strong_write, span.begin, span.end) != nullptr) {
                learn(*operation);  // it has raised a flag, and the host may rely on it
            }
        }
        drop_finished();
    }
    if (!Races::instance().wanted()) {
        return;
    }
    if (use == Use::strong_write && guess_ && guess_->span.begin == span.begin) {
        guess_.reset();
    }
    settle_guess();
    if (use == Use::read) {
        guess_ = access;
    } else {
        judge_host_access(access);
    }
}

// A compare-and-swap loop of the host begins with a plain read, as those of kernels do (races.h).
void Streams::settle_guess() {
    if (const std::optional<HostAccess> read = std::exchange(guess_, std::nullopt)) {
        judge_host_access(*read);
    }
}

void Streams::judge_host_access(const HostAccess& access) {
    bool may_touch_it = false;
    for (const auto* list : {&pending_, &finished_}) {
        for (const OperationPointer& operation : *list) {
            may_touch_it = may_touch_it || (!operation->done && operation->known_late);
            if (!covers(host_, *operation)) {
                compare(*operation, access);
            }
        }
    }
    if (may_touch_it) {
        note_host_access(access);
    }
}

// ---- what is said ---------------------------------------------------------------------------------------------------------

std::string Streams::text_of_side(const Operation& operation, const Span& span) const {
    const bool is_node = operation.replay != nullptr;
    const std::string where = is_node ? fmt::format("{} in {}", text_of_operation(operation), operation.replay->text)
                                      : fmt::format("{} in {}", operation.name, names_[operation.stream]);
    if (operation.launch.file.empty()) {
        return where;
    }
    return fmt::format("{}, {}{}", where, is_node ? "" : fmt::format("launched at {}, ", text_of(operation.launch)),
                       thread_text(span.block, span.thread, operation.grid, operation.block));
}

std::string Streams::text_of_replay() const {
    return !running() || running_->replay == nullptr
               ? ""
               : fmt::format(", by {} in {}", text_of_operation(*running_), running_->replay->text);
}

std::string Streams::why(const Operation& a, const Operation& b) const {
    if (a.replay != nullptr && a.replay == b.replay) {
        return "no edge of the graph orders them: while it is captured, cudaStreamWaitEvent() in the one stream makes "
               "one, "
               "for an event recorded in the other; cudaGraphAddDependencies() does so for a graph's nodes";
    }
    std::string text;
    for (const Operation* operation : {&a, &b}) {
        if ((operation->name.starts_with("cudaMem")) && !operation->name.ends_with("Async")) {
            text = operation->name + "() may return before it has ended, and ";
        }
    }
    const auto legacy = queues_.find(cudaStreamLegacy);
    const auto is_legacy = [&](const Operation& o) {
        return legacy != queues_.end() && legacy->second.number == o.stream;
    };
    if ((is_legacy(a) && !blocking_[b.stream]) || (is_legacy(b) && !blocking_[a.stream])) {
        text += "a non-blocking stream and the default stream do not wait for each other";
    } else {
        text += "streams run side by side";
    }
    return text +
           ": cudaStreamWaitEvent() in the one, for an event recorded in the other, orders them, or the host by "
           "waiting between the two";
}

void Streams::tell(const Operation& a, Use use_a, const Span& in_a, const Operation& b, Use use_b,
                   const Span& in_b) const {
    const bool nodes = a.replay != nullptr && a.replay == b.replay;
    report_race(nodes ? "graph" : "streams", {in_a.site, verb(use_a), text_of_side(a, in_a)},
                {in_b.site, verb(use_b), text_of_side(b, in_b)}, Specificity::two_threads, [&] {
                    return RaceText{place_of_global(std::max(in_a.begin, in_b.begin)) +
                                        (nodes ? " is used by two nodes of a graph" : " is used in two streams") +
                                        ", and nothing orders them",
                                    why(a, b), ""};
                });
}

void Streams::tell_host(const Operation& operation, Use use, const Span& span, Use host_use, const Span& host) const {
    report_race("host", {span.site, verb(use), text_of_side(operation, span)}, {host.site, verb(host_use), "the host"},
                Specificity::two_threads, [&] {
                    return RaceText{
                        place_of_global(std::max(span.begin, host.begin)) +
                            " is used by the host and in a stream, and nothing orders them",
                        fmt::format("{} returns before it has ended: cudaStreamSynchronize() of its stream, "
                                    "cudaEventSynchronize() of an event behind it or cudaDeviceSynchronize() lets the "
                                    "host wait",
                                    operation.replay != nullptr     ? "cudaGraphLaunch()"
                                    : operation.launch.file.empty() ? operation.name + "()"
                                                                    : "a launch"),
                        ""};
                });
}

}  // namespace simt
