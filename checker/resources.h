// SPDX-License-Identifier: MIT
//
// What a Context (lessons/gpt2/context.h) is made of: memory that somebody gives, and objects that are kept by their type.
#pragma once

#include <cstddef>
#include <memory>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

namespace checker {

// Gives memory that ops may work in: a device's, or the host's. Who runs the ops says which.
class Allocator {
  public:
    static constexpr std::size_t kAlignment = 256;  // of all that it gives, as of cudaMalloc

    virtual ~Allocator() = default;
    virtual std::byte* allocate(std::size_t bytes) = 0;  // throws where there is no room
    virtual void release(std::byte* memory) = 0;
};

// At most one object of each type, made when it is first asked for. The one that was made last is destroyed first.
class OnePerType {
  public:
    OnePerType() = default;
    OnePerType(OnePerType&&) = default;
    OnePerType& operator=(OnePerType&&) = default;
    ~OnePerType() {
        while (!objects_.empty()) { objects_.pop_back(); }
    }

    template <class T, class... Arguments>
    T& get(Arguments&&... arguments) {
        for (const auto& [type, object] : objects_) {
            if (type == typeid(T)) {
                return *static_cast<T*>(object.get());
            }
        }
        objects_.emplace_back(typeid(T), std::make_shared<T>(std::forward<Arguments>(arguments)...));
        return *static_cast<T*>(objects_.back().second.get());
    }

  private:
    std::vector<std::pair<std::type_index, std::shared_ptr<void>>> objects_;
};

}  // namespace checker
