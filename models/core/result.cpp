#include <idletune/configuration.hpp>
#include <idletune/result.hpp>
#include <idletune/text.hpp>

#include <cstring>

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
  switch (code) {
    case StatusCode::ok: return "ok";
    case StatusCode::invalid_argument: return "invalid_argument";
    case StatusCode::not_found: return "not_found";
    case StatusCode::corrupt: return "corrupt";
    case StatusCode::version_mismatch: return "version_mismatch";
    case StatusCode::unsupported: return "unsupported";
    case StatusCode::io_error: return "io_error";
    case StatusCode::no_space: return "no_space";
    case StatusCode::read_only: return "read_only";
    case StatusCode::out_of_memory: return "out_of_memory";
    case StatusCode::busy: return "busy";
    case StatusCode::timeout: return "timeout";
    case StatusCode::device_error: return "device_error";
    case StatusCode::compile_error: return "compile_error";
    case StatusCode::internal: return "internal";
    case StatusCode::untrusted: return "untrusted";
  }
  return "unknown";
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
  switch (status) {
    case TrialStatus::correct: return "correct";
    case TrialStatus::compile: return "compile";
    case TrialStatus::runtime: return "runtime";
    case TrialStatus::correctness: return "correctness";
    case TrialStatus::timeout: return "timeout";
    case TrialStatus::constraints: return "constraints";
    case TrialStatus::crash: return "crash";
  }
  return "unknown";
}

}  // namespace idletune
