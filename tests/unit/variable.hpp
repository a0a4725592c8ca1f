// A variable of the environment that is set for a while.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace idletune::test {

// As long as this lives, for libraries and programs that are started from now on; afterwards it is
// what it was.
class Variable {
 public:
  // Null: unset.
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(old_ ? old_->c_str() : nullptr); }
  void set(const char* value) const {
    value != nullptr ? ::setenv(name_, value, 1) : ::unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace idletune::test
