// idletune-helper: runs trials for the application that started it, so that a configuration which
// crashes, aborts or hangs its process takes this one.
#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>

#include <idletune/device.hpp>
#include <idletune/result.hpp>
#ifdef IDLETUNE_WITH_CUDA
#include <idletune/cuda.hpp>
#endif
#ifdef IDLETUNE_WITH_OPENCL
#include <idletune/opencl.hpp>
#endif

#include "agent/trial/helper_conversation.hpp"
#include "agent/trial/helper_exit.hpp"
#include "agent/trial/trial_executor.hpp"
#include "agent/trial/trial_wire.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/os/process.hpp"

namespace idletune {
namespace {

Result<std::unique_ptr<Device>> open_device(const wire::Setup& setup) {
#ifdef IDLETUNE_WITH_OPENCL
  if (setup.device.backend == "opencl") {
    opencl::OpenOptions options;
    options.library = setup.source.library;
    options.cache_folder = setup.source.cache_folder;
    options.cache_limit_bytes = setup.source.cache_limit_bytes;
    return opencl::open_matching(setup.device, options);
  }
#endif
#ifdef IDLETUNE_WITH_CUDA
  if (setup.device.backend == "cuda") {
    cuda::OpenOptions options;
    options.library = setup.source.library;
    options.nvrtc_library = setup.source.compiler;
    options.cache_folder = setup.source.cache_folder;
    options.cache_limit_bytes = setup.source.cache_limit_bytes;
    return cuda::open_matching(setup.device, options);
  }
#endif
  return Status(StatusCode::unsupported,
                "idletune-helper was built without the back end '" + setup.device.backend + "'");
}

// Runs stages on the device that the application names.
class DeviceServer final : public StageServer {
 public:
  Status set_up(wire::Setup setup) override {
    executor_.reset();
    device_.reset();
    QuirkTable quirks;
    if (Status status = quirks.add_text(setup.quirks, "quirks"); !status.ok()) return status;
    auto package = KernelPackage::open(std::move(setup.package), "package from the application");
    if (!package) return package.status();
    Result<std::unique_ptr<Device>> device = open_device(setup);
    if (!device) return device.status();
    device_ = std::move(*device);
    executor_ = std::make_unique<TrialExecutor>(*device_, std::move(*package), setup.executor,
                                                std::move(quirks));
    return {};
  }
  TrialOutcome run(const TrialRequest& request) override { return executor_->run(request); }
  bool poisoned() const override { return executor_->poisoned(); }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<TrialExecutor> executor_;
};

}  // namespace
}  // namespace idletune

int main() {
  idletune::Result<idletune::Channel> channel =
      idletune::join_parent(idletune::ThreadPriority::idle);
  if (!channel) {
    std::fputs("idletune-helper is started by programs that use idletune, not by hand\n", stderr);
    return idletune::kNotStartedByUsExitCode;
  }
  // Ctrl-C in a terminal goes to the application's whole group: it is the application's to answer.
  std::signal(SIGINT, SIG_IGN);
  // Limits are no fault of a configuration. Without file space drivers' caches do without.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGXCPU, SIG_IGN);
  idletune::DeviceServer server;
  idletune::serve_trials(std::move(*channel), server);
}
