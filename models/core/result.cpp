#include <idletune/configuration.hpp>
#include <idletune/result.hpp>
#include <idletune/text.hpp>

#include <cstring>

#include "models/core/word_list.hpp"

namespace idletune {
namespace {

// Never destroyed: nobody registers that, and who ends later may still ask.
template <class Value>
union Lasting {
  Lasting() : value() {}
  ~Lasting() {}
  Value value;
};
const Lasting<Status> kSuccess;
const Lasting<std::string> kNoMessage;

}  // namespace

const char* status_code_name(StatusCode code) {
  return word_of(
      "ok\0invalid_argument\0not_found\0corrupt\0version_mismatch\0unsupported\0"
      "io_error\0no_space\0read_only\0out_of_memory\0busy\0timeout\0device_error\0"
      "compile_error\0internal\0untrusted\0",
      static_cast<unsigned>(code));
}

Status::Status(StatusCode code, std::string message)
    : failure_(code == StatusCode::ok ? nullptr : new Failure{code, std::move(message)}) {}

Status::Status(StatusCode code, const char* message) : Status(code, std::string(message)) {}

Status::Status(PieceKinds kinds_and_code, const char* form, ...) {
  std::va_list words;
  va_start(words, form);
  const auto code = static_cast<StatusCode>(static_cast<std::uint32_t>(kinds_and_code) & 15);
  *this = Status(code, pieces::joined_list(kinds_and_code, form, words));
  va_end(words);
}

Status::Status(const Status& other)
    : failure_(other.failure_ == nullptr ? nullptr : new Failure(*other.failure_)) {}

const Status& Status::success() { return kSuccess.value; }

void Status::forget() { delete failure_; }

const std::string& Status::message() const {
  return failure_ == nullptr ? kNoMessage.value : failure_->message;
}

std::string Status::to_string() const {
  if (ok()) return "ok";
  return joined("%: %", status_code_name(code()), message());
}

void Shape::push_feature(double feature) {
  if (features_ == kMaxFeatures) {
    overflow_ = true;
    return;
  }
  feature += 0.0;  // one zero, not two
  std::memcpy(&values_[input_count()], &feature, sizeof feature);
  ++features_;
}

double Shape::feature(std::size_t i) const {
  double feature;
  std::memcpy(&feature, &values_[size_ + i], sizeof feature);
  return feature;
}

const char* trial_status_name(TrialStatus status) {
  return word_of("correct\0compile\0runtime\0correctness\0timeout\0constraints\0crash\0",
                 static_cast<unsigned>(status));
}

}  // namespace idletune
