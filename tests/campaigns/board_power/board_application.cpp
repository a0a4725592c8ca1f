// An application on a board whose power is cut: it tunes the played kernel for ever, judges the
// models that arrive, and says what is on the medium. Static, for an initramfs.
//   board_application tune STATE PACKAGE DISK OFFSET   acknowledges in sectors from there on
//   board_application look STATE PACKAGE               what the next start makes of a state folder
// Lines of both: "measured N quarantined N confirmed N lowest N refuted N".
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <idletune/agent.hpp>
#include <idletune/slots.hpp>

#include "agent/journal/summary.hpp"
#include "platform/os/storage.hpp"
#include "tests/integration/fleet/played_device.hpp"

namespace {

using namespace idletune;

constexpr int kProblems = 16;
Shape problem(int i) { return Shape{64 * (i % kProblems + 1)}; }

constexpr std::size_t kSector = 512, kSectors = 4096;

int fail(const Status& status) {
  std::printf("failed: %s\n", status.to_string().c_str());
  return 1;
}

// `state`: the folder.
std::string known(const Agent& agent, const std::string& state) {
  int measured = 0;
  if (const auto bytes = read_file(state + "/journal", std::size_t{16} << 20); bytes.ok()) {
    const auto summary = journal::read_journal(*bytes);
    if (summary.ok()) measured = static_cast<int>(summary->state.measurement_count());
  }
  const AgentStatus status = agent.status();
  const ModelStanding& models = status.model_standing;
  char line[200];
  std::snprintf(
      line, sizeof line, "measured %d quarantined %d confirmed %d lowest %d refuted %d\n", measured,
      static_cast<int>(status.quarantined),
      models.state == ModelState::confirmed ? static_cast<int>(status.model_generation) : 0,
      static_cast<int>(models.lowest_generation), static_cast<int>(models.refuted));
  return line;
}

// A sector of the disk behind its file system, written at once.
class Acknowledgements {
 public:
  Acknowledgements(const char* disk, std::uint64_t offset)
      : file_(::open(disk, O_WRONLY | O_DIRECT | O_DSYNC)), offset_(offset) {}
  bool say(const std::string& line) {
    std::memset(sector_, 0, kSector);
    std::snprintf(sector_, kSector, "idletune %s", line.c_str());
    const std::uint64_t at = offset_ + (number_++ % kSectors) * kSector;
    return ::pwrite(file_, sector_, kSector, static_cast<off_t>(at)) == kSector;
  }

 private:
  int file_;
  std::uint64_t offset_, number_ = 0;
  alignas(kSector) char sector_[kSector];
};

// The health check of this application likes every second generation.
void judge(Agent& agent, int age) {
  const AgentStatus status = agent.status();
  if (status.model_standing.state != ModelState::trial || age % 3 != 0) return;
  const Status judged =
      status.model_generation % 2 == 0 ? agent.confirm_model() : agent.reject_model("an odd one");
  if (!judged.ok()) std::printf("judging: %s\n", judged.to_string().c_str());
}

int tune(Agent& agent, const std::string& state, TunedKernel& kernel, Buffer& x,
         Acknowledgements& acknowledged) {
  for (int age = 1;; ++age) {
    for (int i = 0; i < 20; ++i) {
      const Status launched = kernel.launch(problem(age / 8), {x.argument()});
      if (!launched.ok()) return fail(launched);
    }
    (void)agent.tune_now(std::chrono::milliseconds(300));
    judge(agent, age);
    const std::string line = known(agent, state);
    if (Status flushed = agent.flush(); !flushed.ok()) return fail(flushed);
    if (!acknowledged.say(line)) return fail(Status(StatusCode::io_error, "the disk's sectors"));
    std::printf("%s", line.c_str());
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** words) {
  const bool tunes = count == 6 && std::strcmp(words[1], "tune") == 0;
  if (!tunes && (count != 4 || std::strcmp(words[1], "look") != 0)) return 2;
  fake::Device device;
  test::make_played(device);
  AgentOptions options;
  options.state = words[2];
  options.model = kNoModel;
  options.slots = model_slots();
  options.model_check_interval = std::chrono::milliseconds(100);
  auto agent = Agent::open(options);
  if (!agent.ok()) return fail(agent.status());
  auto kernel = agent->kernel(device, words[3]);
  if (!kernel.ok()) return fail(kernel.status());
  const AgentStatus status = agent->status();
  if (!status.storage.ok()) return fail(status.storage);
  if (!tunes) {
    std::printf("%s", known(*agent, options.state).c_str());
    std::printf("uses %s, %s\n", model_state_name(status.model_standing.state),
                status.model.to_string().c_str());
    return 0;
  }
  const auto x = device.allocate(64 * kProblems * sizeof(float));
  Acknowledgements acknowledged(words[4], std::strtoull(words[5], nullptr, 10));
  return tune(*agent, options.state, *kernel, **x, acknowledged);
}
