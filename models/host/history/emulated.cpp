#include "models/host/history/emulated.hpp"

#include <algorithm>

namespace idletune {
namespace {

constexpr char kNote[] = "emulated";

bool is_marked(const History& history) {
  return std::any_of(history.notes.begin(), history.notes.end(),
                     [](const auto& note) { return note.first == kNote; });
}

}  // namespace

bool names_emulated(const std::string& device) { return device.rfind("Emulated", 0) == 0; }

void set_device(const std::string& named, const std::string& given, History& history) {
  history.device = given.empty() ? named : given;
  const bool emulated = names_emulated(named) || names_emulated(given);
  if (emulated && !is_marked(history)) history.notes.emplace_back(kNote, "true");
}

Status check_measured(const History& history) {
  if (!is_marked(history) && !names_emulated(history.device)) return Status();
  return {StatusCode::invalid_argument,
          "% on '%' is of an emulated device: its times are a model's, which nobody measured "
          "(--emulated takes them)",
          history.kernel, history.device};
}

}  // namespace idletune
