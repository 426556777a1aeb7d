// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "checker/device.h"
#include "checker/device_order.h"
#include "lessons/gpt2/ops.h"
#include "lessons/gpt2/placement.h"

// Null at a step that has no such op.
[[gnu::weak]] void loss(float* losses, float* lse, const float* logits, const int* targets, int N, int V, int Vp,
                        Context& ctx);

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
        acts_.has_probs = ::loss == nullptr;
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

    std::vector<double> time(Task task, int count, float* last, Activations& acts, const int* tokens) override {
        return task == Task::forward ? time_forward(count, last, acts, tokens)
                                     : time_predict(count, last, acts, tokens);
    }

  private:
    std::vector<double> time_forward(int count, float* last, const Activations& acts, const int* tokens) {
        const auto B = static_cast<std::size_t>(acts.B), T = static_cast<std::size_t>(acts.T);
        const auto V = static_cast<std::size_t>(acts.config.V), Vp = static_cast<std::size_t>(acts.config.Vp);
        const Narrowed narrowed(acts_, acts.B, acts.T);
        check(cudaMemcpy(tokens_, tokens, B * T * sizeof(int), cudaMemcpyHostToDevice));
        std::vector<checker::Event> events(static_cast<std::size_t>(count) + 1);
        events[0].record(ctx_.stream);
        for (std::size_t i = 1; i < events.size(); i++) {
            ::forward(acts_, params_, tokens_, nullptr, ctx_);
            events[i].record(ctx_.stream);
        }
        events.back().wait();
        std::vector<double> seconds;
        for (std::size_t i = 1; i < events.size(); i++) { seconds.push_back(events[i].seconds_since(events[i - 1])); }
        const float* logits = acts_.logits + (T - 1) * Vp;  // logits[0, T - 1, :]
        check(cudaMemcpy2D(last, V * sizeof(float), logits, T * Vp * sizeof(float), V * sizeof(float), B,
                           cudaMemcpyDeviceToHost));
        return seconds;
    }

    std::vector<double> time_predict(int count, float* last, const Activations& acts, const int* tokens) {
        std::vector<double> seconds;
        for (int i = 0; i < count; i++) {
            const auto begin = std::chrono::steady_clock::now();
            ::predict(last, acts_, params_, tokens, acts.B, acts.T, ctx_);
            seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        }
        return seconds;
    }

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
    checker::count_cards_as_nvidia_smi();
    acts.allocate_results();
    return std::make_unique<DevicePlacement>(params, acts);
}
