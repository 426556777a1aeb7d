// SPDX-License-Identifier: MIT
//
// What a Context (lessons/gpt2/context.h) is made of: memory that somebody gives, and objects that are kept by their type.
#pragma once

#include <cstddef>
#include <new>
#include <typeinfo>
#include <utility>

namespace checker {

// Gives memory that ops may work in: a device's, or the host's. Who runs the ops says which.
class Allocator {
  public:
    static constexpr std::size_t kAlignment = 256;  // of all that it gives, as of cudaMalloc

    virtual ~Allocator() = default;
    virtual std::byte* allocate(std::size_t bytes) = 0;  // throws where there is no room
    virtual void release(std::byte* memory) = 0;
};

// Owns memory of an allocator, which outlives it. Null: the host's.
class OwnedMemory {
  public:
    explicit OwnedMemory(Allocator* from) : from_(from) {}
    OwnedMemory(OwnedMemory&& other) noexcept : from_(other.from_), memory_(std::exchange(other.memory_, nullptr)) {}
    OwnedMemory& operator=(OwnedMemory&& other) noexcept {
        std::swap(from_, other.from_);
        std::swap(memory_, other.memory_);
        return *this;
    }
    ~OwnedMemory() { release(); }

    std::byte* get() const { return memory_; }
    void allocate(std::size_t bytes) {
        release();  // first, so that old and new are never there at once
        memory_ = from_ != nullptr ? from_->allocate(bytes) : static_cast<std::byte*>(::operator new(bytes, kAligned));
    }
    void release() {
        std::byte* const memory = std::exchange(memory_, nullptr);
        if (memory != nullptr) {
            from_ != nullptr ? from_->release(memory) : ::operator delete(memory, kAligned);
        }
    }

  private:
    static constexpr std::align_val_t kAligned{Allocator::kAlignment};

    Allocator* from_;
    std::byte* memory_ = nullptr;
};

// At most one object of each type, made when it is first asked for. The one that was made last is destroyed first.
//
// A list of its own: every op's file includes this header, and a std::vector of std::shared_ptr takes longer to compile
// than most kernels.
class OnePerType {
  public:
    OnePerType() = default;
    OnePerType(OnePerType&& other) noexcept : newest_(std::exchange(other.newest_, nullptr)) {}
    OnePerType& operator=(OnePerType&& other) noexcept {
        std::swap(newest_, other.newest_);
        return *this;
    }
    ~OnePerType() {
        while (newest_ != nullptr) { delete std::exchange(newest_, newest_->older); }
    }

    template <class T, class... Arguments>
    T& get(Arguments&&... arguments) {
        for (Object* object = newest_; object != nullptr; object = object->older) {
            if (object->type == typeid(T)) {
                return static_cast<ObjectOf<T>*>(object)->value;
            }
        }
        auto* const made = new ObjectOf<T>(std::forward<Arguments>(arguments)...);
        made->older = std::exchange(newest_, made);
        return made->value;
    }

  private:
    struct Object {
        explicit Object(const std::type_info& of) : type(of) {}
        Object(const Object&) = delete;
        Object& operator=(const Object&) = delete;
        virtual ~Object() = default;
        const std::type_info& type;
        Object* older = nullptr;
    };
    template <class T>
    struct ObjectOf : Object {
        template <class... Arguments>
        explicit ObjectOf(Arguments&&... arguments) : Object(typeid(T)), value(std::forward<Arguments>(arguments)...) {}
        T value;
    };

    Object* newest_ = nullptr;
};

}  // namespace checker
