// SPDX-License-Identifier: MIT
//
// logits[b, :] = forward's logits at position T - 1 of sequence b
//
// The whole forward pass, with the copy before it and the copy after it, is captured once for each bucket of T and replayed by
// one call for each token. A graph keeps every argument that its nodes were captured with. What changes from token to token
// they read from memory that stays where it is.
#include <algorithm>
#include <compare>
#include <map>

#include "checker/device.h"
#include "lessons/17_cuda_graphs/last_rows.cuh"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"
#include "lessons/gpt2/tensors.h"

namespace {

// What no replay can change. Two addresses stand for all those of the activations and of the parameters.
struct Key {
    int B, T;  // T is the bucket
    const float *acts, *params;
    auto operator<=>(const Key&) const = default;
};

// An executable graph, and the memory whose addresses are in it.
struct Replay {
    checker::PinnedBuffer<int> staged;    // the tokens (B, T), then the position
    checker::DeviceBuffer<int> input;     // the same, copied there by the graph's first node
    checker::DeviceBuffer<float> last;    // (B, V)
    checker::PinnedBuffer<float> logits;  // (B, V), copied there by its last node
    void* workspace = nullptr;            // the Context's when the graph was captured
    cudaGraphExec_t graph = nullptr;

    Replay(int B, int T, int V) : staged(B * T + 1), input(B * T + 1), last(B * V), logits(B * V) {}
    Replay(const Replay&) = delete;
    Replay& operator=(const Replay&) = delete;
    ~Replay() {
        // TODO: destroy the graph, if there is one.
    }
};

// Kept in the Context.
struct Replays {
    checker::Stream stream{cudaStreamNonBlocking};  // the default stream cannot be captured
    std::map<Key, Replay> of;
};

// The smallest of 64, 128, 256, … that holds T tokens; no more than there is room for.
int bucket_of(int T, int room) {
    int bucket = 64;
    // TODO: T = 1 … 64 have bucket 64, T = 65 … 128 have 128.
    return std::min(bucket, room);
}

// What is done for a token, in ctx.stream: staged to input, forward, the rows at the position to last, last to logits. acts
// has the graph's B and T.
void enqueue(Replay& replay, Activations& acts, const Parameters& params, Context& ctx) {
    // TODO: the copy, forward, last_rows (last_rows.cuh) and the copy back. Every copy is asynchronous.
}

// Runs it once, then captures it. Where there is a graph already, only addresses have changed.
void capture(Replay& replay, Activations& acts, const Parameters& params, Context& ctx) {
    // TODO: enqueue, and wait: handles are made and workspaces grow now. Then begin the capture, enqueue, end it. An
    // executable graph of what was captured takes the place of an older one, which is destroyed first, and what was
    // captured is destroyed too. Note the Context's workspace, ctx.workspace(0).
}

}  // namespace

void predict(float* logits,             // (B, V), on the host
             Activations& acts,         // with room for acts.B >= B sequences of acts.T >= T tokens
             const Parameters& params,  //
             const int* tokens,         // (B, T), each in [0, V), on the host
             int B, int T, Context& ctx) {
    Replays& replays = ctx.handle<Replays>();
    // TODO: the bucket, acts narrowed to it (Narrowed, lessons/gpt2/tensors.h), and the Context on the stream of replays
    // (OnStream). The key's replay, made if it is not there. Into staged go each sequence's tokens, padding after them and
    // the position. Capture, where there is no graph or the Context's workspace is another. Launch, wait, copy the logits.
}
