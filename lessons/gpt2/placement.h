// SPDX-License-Identifier: MIT
//
// Where a step's forward pass runs. A host step computes in the memory that the model has; a device step in a copy of
// the parameters in the device's memory. Which of the two is linked: placement_host.cpp or placement_device.cpp.
#pragma once

#include <memory>
#include <vector>

#include "lessons/gpt2/tensors.h"

class Placement {
  public:
    virtual ~Placement() = default;

    // forward() of ops.h on the placement's Context. Afterwards acts.logits (and, with targets, acts.losses) hold the result; what else it holds is
    // the placement's affair. acts.B and acts.T may be smaller than those it was made with, for one sequence.
    virtual void forward(Activations& acts, const int* tokens, const int* targets) = 0;

    // Where the logits (V) of the last of T tokens of one sequence are, until the next run; acts as it was made.
    virtual const float* last_logits(Activations& acts, const int* tokens, int T) = 0;

    // For a benchmark: the seconds of each of `count` passes over acts.B sequences, one after another. Of forward, tokens and
    // results stay where the ops work; predict takes tokens and gives logits on the host, where a step has it, and is timed
    // by the host's clock. Afterwards `last` (B, V) holds each sequence's last logits.
    enum class Task { forward, predict };
    virtual std::vector<double> time(Task task, int count, float* last, Activations& acts, const int* tokens) = 0;
};

// For activations of at most acts.B sequences of acts.T tokens; allocates what acts needs. Both must outlive the result.
std::unique_ptr<Placement> make_placement(Parameters& params, Activations& acts);
