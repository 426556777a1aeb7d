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

  private:
    const Parameters& params_;
    Context ctx_;
};

}  // namespace

std::unique_ptr<Placement> make_placement(Parameters& params, Activations& acts) {
    acts.allocate(forward_scratch_bytes(params.config, acts.B, acts.T));
    return std::make_unique<HostPlacement>(params);
}
