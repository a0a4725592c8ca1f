#include "tests/emulated_cuda/findings.hpp"

#include <cstdio>

namespace emulated_cuda {
namespace {

std::string three(const unsigned (&numbers)[3]) {
  return std::to_string(numbers[0]) + "," + std::to_string(numbers[1]) + "," +
         std::to_string(numbers[2]);
}

}  // namespace

std::string text_of(const Place& place) {
  std::string text =
      place.kernel->name + ", PTX line " + std::to_string(place.instruction->line) + " ";
  const Module* module = place.kernel->module;
  const std::uint32_t source = place.instruction->source;
  if (module != nullptr && source != 0 && source < module->source_places.size()) {
    text += "(" + module->source_places[source] + ")";
  } else {
    text += "(no source line)";
  }
  return text + ", block " + three(place.block) + ", thread " + three(place.thread);
}

void Findings::add(const Place& place, const std::string& what) {
  add_new(place.kernel->name + ":" + std::to_string(place.instruction->line) + ":" + what,
          what + ": " + text_of(place));
}

void Findings::add(const std::string& what) { add_new(what, what); }

void Findings::add_new(std::string key, std::string text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto& [known, times] = counted_[std::move(key)];
  if (++times > 1) return;
  known = text;
  write("finding", text);
  texts_.push_back(std::move(text));
}

void Findings::remark(const std::string& what) {
  const std::lock_guard<std::mutex> lock(mutex_);
  write("remark", what);
}

void Findings::write(const char* kind, const std::string& text) const {
  std::FILE* file = file_.empty() ? stderr : std::fopen(file_.c_str(), "a");
  if (file == nullptr) return;
  std::fprintf(file, "emulated CUDA: %s: %s\n", kind, text.c_str());
  if (file != stderr) std::fclose(file);
}

std::vector<std::string> Findings::list() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return texts_;
}

std::uint64_t Findings::times(const std::string& finding) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& entry : counted_) {
    if (entry.second.first == finding) return entry.second.second;
  }
  return 0;
}

void Findings::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  texts_.clear();
  counted_.clear();
}

}  // namespace emulated_cuda
