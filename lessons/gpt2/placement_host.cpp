// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "lessons/gpt2/ops.h"
#include "lessons/gpt2/placement.h"

namespace {

class HostPlacement final : public Placement {
  public:
    explicit HostPlacement(const Parameters& params) : params_(params) {}
    void forward(Activations& acts, const int* tokens, const int* targets) override {
        ::forward(acts, params_, tokens, targets, ctx_);
    }
    const float* last_logits(Activations& acts, const int* tokens, int T) override {
        const Narrowed narrowed(acts, 1, T);
        ::forward(acts, params_, tokens, nullptr, ctx_);
        return acts.logits + static_cast<std::size_t>(T - 1) * static_cast<std::size_t>(acts.config.Vp);
    }

    // The results are on the host either way.
    std::vector<double> time(Task, int count, float* last, Activations& acts, const int* tokens) override {
        std::vector<double> seconds;
        for (int i = 0; i < count; i++) {
            const auto begin = std::chrono::steady_clock::now();
            forward(acts, tokens, nullptr);
            seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        }
        for (long b = 0; b < acts.B; b++) {
            const float* logits_b = acts.logits + ((b + 1) * acts.T - 1) * acts.config.Vp;  // logits[b, T - 1, :]
            std::copy_n(logits_b, acts.config.V, last + b * acts.config.V);
        }
        return seconds;
    }

  private:
    const Parameters& params_;
    Context ctx_;
};

}  // namespace

std::unique_ptr<Placement> make_placement(Parameters& params, Activations& acts) {
    acts.allocate(forward_scratch_bytes(params.config, acts.B, acts.T));
    return std::make_unique<HostPlacement>(params);
}
