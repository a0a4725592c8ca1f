// A board's application, whose device plays the kernel of play.xml and whose helper replays trials:
// agent, helper, journal and slots are what ships, and no driver is needed. It launches and idles
// until so many configurations have been tried, then judges the model as told.
//   played_application STATE PACKAGE KEY PRODUCT TRIED [yes|no]
// KEY: a file of `idletune key`; models and packages of others are not believed. The helper is what
// IDLETUNE_HELPER names.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <idletune/agent.hpp>
#include <idletune/signing.hpp>
#include <idletune/slots.hpp>

#include "platform/os/storage.hpp"
#include "tests/integration/fleet/played_device.hpp"

namespace {

using namespace idletune;

const Shape kProblem{64};

int fail(const Status& status) {
  std::fprintf(stderr, "played_application: %s\n", status.to_string().c_str());
  return 1;
}

// Launches until so many configurations were tried. Error: of launching; timeout after a minute.
Status tune(Agent& agent, TunedKernel& kernel, Buffer& x, std::uint64_t tried) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (true) {
    for (int i = 0; i < 200; ++i) {
      if (Status launched = kernel.launch(kProblem, {x.argument()}); !launched.ok())
        return launched;
    }
    const auto known = kernel.explain(kProblem);
    if (!known.ok()) return known.status();
    if (known->evaluated >= tried) return {};
    (void)agent.tune_now(std::chrono::milliseconds(100));
    if (std::chrono::steady_clock::now() > end)
      return Status(StatusCode::timeout, "tuning takes too long");
  }
}

int run(const std::string& state, const std::string& package, const FileTrust& trust,
        std::uint64_t tried, const std::string& verdict) {
  fake::Device device;
  test::make_played(device);
  AgentOptions options;
  options.state = state;
  options.model = kNoModel;
  options.slots = model_slots();
  options.trust = &trust;
  auto agent = Agent::open(options);
  if (!agent.ok()) return fail(agent.status());
  auto kernel = agent->kernel(device, package);
  if (!kernel.ok()) return fail(kernel.status());
  if (Status ready = kernel->prepare(kProblem); !ready.ok()) return fail(ready);
  const auto first = kernel->explain(kProblem);
  const auto x = device.allocate(64 * sizeof(float));
  if (!first.ok() || !x.ok()) return fail(first.ok() ? x.status() : first.status());
  const Status tuned = tune(*agent, *kernel, **x, tried);
  if (!tuned.ok()) return fail(tuned);
  Status judged;
  if (verdict == "yes") judged = agent->confirm_model();
  if (verdict == "no") judged = agent->reject_model("frames were late");
  if (!judged.ok()) return fail(judged);
  const auto now = kernel->explain(kProblem);
  const AgentStatus status = agent->status();
  if (!now.ok() || !status.storage.ok()) return fail(now.ok() ? status.storage : now.status());
  std::printf("generation %d (%s); began with %s (%s), %.2f ms; runs %s, %.2f ms; quarantined %d\n",
              static_cast<int>(status.model_generation),
              model_state_name(status.model_standing.state), selection_name(first->selection),
              first->running_text.c_str(), first->running_ms, now->running_text.c_str(),
              now->running_ms, static_cast<int>(status.quarantined));
  if (!status.model.ok()) std::printf("model: %s\n", status.model.to_string().c_str());
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count < 6) {
    std::fprintf(stderr, "usage: played_application STATE PACKAGE KEY PRODUCT TRIED [yes|no]\n");
    return 2;
  }
  const auto text = read_file(words[3], std::size_t{1} << 16);
  if (!text.ok()) return fail(text.status());
  const auto key = PublicKey::read(std::string(text->begin(), text->end()));
  if (!key.ok()) return fail(key.status());
  const auto trust = signed_files({*key}, words[4]);
  if (!trust.ok()) return fail(trust.status());
  return run(words[1], words[2], **trust, std::strtoull(words[5], nullptr, 10),
             count > 6 ? words[6] : "");
}
