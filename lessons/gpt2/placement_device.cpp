// SPDX-License-Identifier: MIT
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "checker/gpu/device.h"
#include "lessons/gpt2/ops.h"
#include "lessons/gpt2/placement.h"

namespace {

using checker::check;

class DevicePlacement final : public Placement {
  public:
    DevicePlacement(Parameters& params, Activations& acts)
        : params_(params.config), acts_(acts.config, acts.B, acts.T) {
        std::vector<const float*> host;
        params.visit([&](const std::string&, float* view, const Shape&) { host.push_back(view); });
        std::size_t i = 0;
        params_.visit([&](const std::string&, float*& view, const Shape& shape) {
            view = allocate<float>(static_cast<std::size_t>(shape.elements()));
            check(cudaMemcpy(view, host[i++], bytes_of(shape), cudaMemcpyHostToDevice));
        });
        acts_.visit([&](const std::string&, float*& view, const Shape& shape) {
            view = allocate<float>(static_cast<std::size_t>(shape.elements()));
        });
        acts_.scratch = allocate<std::byte>(forward_scratch_bytes(params.config, acts.B, acts.T));
        const std::size_t rows = static_cast<std::size_t>(acts.B) * static_cast<std::size_t>(acts.T);
        tokens_ = allocate<int>(rows);
        targets_ = allocate<int>(rows);
    }

    void forward(Activations& acts, const int* tokens, const int* targets) override {
        const std::size_t rows = static_cast<std::size_t>(acts.B) * static_cast<std::size_t>(acts.T);
        const Narrowed narrowed(acts_, acts.B, acts.T);
        check(cudaMemcpy(tokens_, tokens, rows * sizeof(int), cudaMemcpyHostToDevice));
        if (targets != nullptr) {
            check(cudaMemcpy(targets_, targets, rows * sizeof(int), cudaMemcpyHostToDevice));
        }
        ::forward(acts_, params_, tokens_, targets != nullptr ? targets_ : nullptr, ctx_);
        // Waits for the device.
        const std::size_t logits = rows * static_cast<std::size_t>(acts.config.Vp);
        check(cudaMemcpy(acts.logits, acts_.logits, logits * sizeof(float), cudaMemcpyDeviceToHost));
        if (targets != nullptr) {
            check(cudaMemcpy(acts.losses, acts_.losses, rows * sizeof(float), cudaMemcpyDeviceToHost));
        }
    }

    const float* last_logits(Activations& acts, const int* tokens, int T) override {
        ::predict(acts.logits, acts_, params_, tokens, 1, T, ctx_);
        return acts.logits;
    }

  private:
    static std::size_t bytes_of(const Shape& shape) {
        return static_cast<std::size_t>(shape.elements()) * sizeof(float);
    }

    template <class T>
    T* allocate(std::size_t elements) {
        memory_.push_back(checker::DeviceBuffer<std::byte>(elements * sizeof(T)));
        return reinterpret_cast<T*>(memory_.back().data());
    }

    std::vector<checker::DeviceBuffer<std::byte>> memory_;
    Parameters params_;  // views of device memory
    Activations acts_;
    int* tokens_ = nullptr;
    int* targets_ = nullptr;
    checker::DeviceAllocator workspaces_;
    Context ctx_{&workspaces_};
};

}  // namespace

std::unique_ptr<Placement> make_placement(Parameters& params, Activations& acts) {
    acts.allocate(0);
    return std::make_unique<DevicePlacement>(params, acts);
}
