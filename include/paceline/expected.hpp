// Expected<T, E>: a value or why there is none. A strict subset of std::expected (C++23), under the
// standard's names, so that a later move is a search and replace.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "paceline/check.hpp"

namespace paceline {

/// One entry per different reaction of the caller.
enum class ErrorCode {
  kInvalid,  ///< what was asked or given is wrong: fix the call or the file (program: exit code 2)
  kFailed,   ///< a run failed: a worker, the disk, a number that is not finite (program: exit code
             ///< 1)
  kInterrupted,  ///< the user asked to stop (program: exit code 130)
};

struct Error {
  ErrorCode code = ErrorCode::kInvalid;
  std::string message;  ///< one line: the value, the place, what is allowed
};

template <class E>
class Unexpected {
 public:
  explicit Unexpected(E error) : error_(std::move(error)) {}

  const E& error() const& { return error_; }

  E&& error() && { return std::move(error_); }

 private:
  E error_;
};

/// `return invalid("...")` and `return failed("...")` from a function that returns Expected.
inline Unexpected<Error> invalid(std::string message) {
  return Unexpected<Error>({ErrorCode::kInvalid, std::move(message)});
}

inline Unexpected<Error> failed(std::string message) {
  return Unexpected<Error>({ErrorCode::kFailed, std::move(message)});
}

template <class T, class E = Error>
class [[nodiscard]] Expected {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): as std::expected
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}

  // NOLINTNEXTLINE(google-explicit-constructor): as std::expected
  Expected(Unexpected<E> error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }

  explicit operator bool() const { return has_value(); }

  const T& value() const& { return checked(); }

  T& value() & { return checked(); }

  T&& value() && { return std::move(checked()); }

  const T& operator*() const& { return checked(); }

  T& operator*() & { return checked(); }

  T&& operator*() && { return std::move(checked()); }

  const T* operator->() const { return &checked(); }

  T* operator->() { return &checked(); }

  /// @pre !has_value(), else ContractViolation
  const E& error() const {
    PACELINE_CHECK(!has_value());
    return std::get<1>(state_).error();
  }

  template <class U>
  T value_or(U&& fallback) const& {
    return has_value() ? std::get<0>(state_) : static_cast<T>(std::forward<U>(fallback));
  }

 private:
  const T& checked() const {
    PACELINE_CHECK(has_value());
    return std::get<0>(state_);
  }

  T& checked() {
    PACELINE_CHECK(has_value());
    return std::get<0>(state_);
  }

  std::variant<T, Unexpected<E>> state_;
};

/// Success without a value, or an error.
template <class E>
class [[nodiscard]] Expected<void, E> {
 public:
  Expected() = default;

  // NOLINTNEXTLINE(google-explicit-constructor): as std::expected
  Expected(Unexpected<E> error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }

  explicit operator bool() const { return has_value(); }

  void value() const { PACELINE_CHECK(has_value()); }

  const E& error() const {
    PACELINE_CHECK(!has_value());
    return std::get<1>(state_).error();
  }

 private:
  std::variant<std::monostate, Unexpected<E>> state_;
};

}  // namespace paceline
