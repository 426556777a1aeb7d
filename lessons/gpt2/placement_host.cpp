// SPDX-License-Identifier: MIT
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

  private:
    const Parameters& params_;
    Context ctx_;
};

}  // namespace

std::unique_ptr<Placement> make_placement(Parameters& params, Activations& acts) {
    acts.allocate(forward_scratch_bytes(params.config, acts.B, acts.T));
    return std::make_unique<HostPlacement>(params);
}
