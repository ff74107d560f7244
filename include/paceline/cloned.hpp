// Cloned<T>: a unique_ptr to a polymorphic value that is copied by clone(), so that its owner has
// the default copy.
#pragma once

#include <memory>
#include <utility>

namespace paceline {

template <class T>
class Cloned {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a drop-in owner
  Cloned(std::unique_ptr<T> value) : value_(std::move(value)) {}

  Cloned(const Cloned& other) : value_(other.value_ ? other.value_->clone() : nullptr) {}

  Cloned(Cloned&&) noexcept = default;

  Cloned& operator=(const Cloned& other) {
    if (this != &other) value_ = other.value_ ? other.value_->clone() : nullptr;
    return *this;
  }

  Cloned& operator=(Cloned&&) noexcept = default;
  ~Cloned() = default;

  T* get() const { return value_.get(); }

  T& operator*() const { return *value_; }

  T* operator->() const { return value_.get(); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace paceline
