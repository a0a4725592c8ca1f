// One way to fail: Status, and Result<T> for functions that return a value. No exceptions.
#pragma once

#include <idletune/text.hpp>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace idletune {

enum class StatusCode : std::uint8_t {
  ok = 0,
  invalid_argument,  // the caller's mistake
  not_found,         // a file, device, kernel or entry that is not there
  corrupt,           // bytes that fail a checksum or a semantic check
  version_mismatch,  // written by a version this one does not read
  unsupported,       // the device, driver or build cannot do it
  io_error,          // storage failed
  no_space,          // storage is full
  read_only,         // storage cannot be written
  out_of_memory,     // a size limit or an allocation failed
  busy,              // somebody else holds it; trying again may work
  timeout,           // a deadline passed
  device_error,      // the device or its driver reported a failure
  compile_error,     // a kernel did not compile
  internal,          // an invariant of ours is broken
  untrusted          // bytes that nobody signed who is believed (idletune/trust.hpp)
};

// The stable English name of a code ("not_found", ...). Never null.
const char* status_code_name(StatusCode code);

// The outcome of an operation: one pointer. Success costs no allocation; a failure keeps its code
// and message on the heap.
class [[nodiscard]] Status {
 public:
  Status() = default;
  // Of StatusCode::ok: a success, without the message.
  Status(StatusCode code, std::string message);
  Status(StatusCode code, const char* message);
  // The message is the form with its pieces (idletune/text.hpp).
  template <class... Pieces>
  [[gnu::always_inline]] Status(StatusCode code, const char* form, const Pieces&... given)
      : Status(pieces::kinds<Pieces...>(static_cast<std::uint32_t>(code)), form,
               pieces::word(given)...) {}
  Status(const Status& other);
  Status(Status&& other) noexcept : failure_(other.failure_) { other.failure_ = nullptr; }
  Status& operator=(Status other) noexcept {
    std::swap(failure_, other.failure_);
    return *this;
  }
  ~Status() {
    if (failure_ != nullptr) forget();
  }

  bool ok() const { return failure_ == nullptr; }
  StatusCode code() const { return failure_ == nullptr ? StatusCode::ok : failure_->code; }
  // One line that names the thing, the place and what was expected; empty on success.
  const std::string& message() const;
  static const Status& success();  // one that lasts
  // "not_found: model 'x.itmodel' ..."; "ok" on success.
  std::string to_string() const;

 private:
  struct Failure {
    StatusCode code;
    std::string message;
  };
  Status(PieceKinds kinds_and_code, const char* form, ...);
  void forget();

  Failure* failure_ = nullptr;  // owned
};

// Either a T or a failed Status. Asking for the value of a failure aborts (a programming error).
template <class T>
class [[nodiscard]] Result {
 public:
  // References, so that `return local;` moves.
  Result(T&& value) : has_value_(true) { new (&storage_.value) T(std::move(value)); }  // NOLINT
  Result(const T& value) : has_value_(true) { new (&storage_.value) T(value); }        // NOLINT
  Result(Status&& status) : has_value_(false) {                                        // NOLINT
    if (status.ok()) std::abort();
    new (&storage_.status) Status(std::move(status));
  }
  Result(const Status& status) : Result(Status(status)) {}  // NOLINT
  Result(StatusCode code, std::string message) : Result(Status(code, std::move(message))) {}
  template <class... Pieces>
  [[gnu::always_inline]] Result(StatusCode code, const char* form, const Pieces&... given)
      : Result(Status(code, form, given...)) {}
  Result(Result&& other) noexcept : has_value_(other.has_value_) { construct(std::move(other)); }
  Result& operator=(Result&& other) noexcept {
    if (this != &other) {
      destroy();
      has_value_ = other.has_value_;
      construct(std::move(other));
    }
    return *this;
  }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  ~Result() { destroy(); }

  bool ok() const { return has_value_; }
  explicit operator bool() const { return has_value_; }
  StatusCode code() const { return has_value_ ? StatusCode::ok : storage_.status.code(); }
  // The failure; a success on a Result that holds a value.
  const Status& status() const& { return has_value_ ? Status::success() : storage_.status; }
  Status status() && { return has_value_ ? Status() : std::move(storage_.status); }

  T& value() & { return checked(); }
  const T& value() const& { return const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(checked()); }
  T& operator*() & { return checked(); }
  const T& operator*() const& { return const_cast<Result*>(this)->checked(); }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &const_cast<Result*>(this)->checked(); }

 private:
  union Storage {
    Storage() {}
    ~Storage() {}
    T value;
    Status status;
  } storage_;
  bool has_value_;

  T& checked() {
    if (!has_value_) std::abort();
    return storage_.value;
  }
  void construct(Result&& other) {
    if (has_value_) {
      new (&storage_.value) T(std::move(other.storage_.value));
    } else {
      new (&storage_.status) Status(std::move(other.storage_.status));
    }
  }
  void destroy() {
    if (has_value_) {
      storage_.value.~T();
    } else {
      storage_.status.~Status();
    }
  }
};

}  // namespace idletune
