// idletune-helper: runs trials for the application that started it, so that a configuration which
// crashes, aborts or hangs its process takes this one.
#include <unistd.h>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include <idletune/device.hpp>
#include <idletune/result.hpp>
#ifdef IDLETUNE_WITH_CUDA
#include <idletune/cuda.hpp>
#endif
#ifdef IDLETUNE_WITH_OPENCL
#include <idletune/opencl.hpp>
#endif

#include "agent/trial/helper_exit.hpp"
#include "agent/trial/trial_executor.hpp"
#include "agent/trial/trial_wire.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/os/process.hpp"

namespace idletune {
namespace {

using wire::MessageType;

constexpr std::chrono::seconds kTransfer(10);

// Leaves at once: drivers with a hung run do not survive their own exit handlers.
[[noreturn]] void leave(int code) { ::_exit(code); }

Result<std::unique_ptr<Device>> open_device(const wire::Setup& setup) {
#ifdef IDLETUNE_WITH_OPENCL
  if (setup.device.backend == "opencl") {
    opencl::OpenOptions options;
    options.library = setup.opencl_library;
    options.cache_folder = setup.program_cache;
    options.launch_lanes = 1;
    return opencl::open_matching(setup.device, options);
  }
#endif
#ifdef IDLETUNE_WITH_CUDA
  if (setup.device.backend == "cuda") {
    cuda::OpenOptions options;
    options.library = setup.cuda_library;
    options.nvrtc_library = setup.nvrtc_library;
    options.cache_folder = setup.program_cache;
    options.launch_lanes = 1;
    return cuda::open_matching(setup.device, options);
  }
#endif
  return Status(StatusCode::unsupported,
                "idletune-helper was built without the back end '" + setup.device.backend + "'");
}

class Conversation {
 public:
  explicit Conversation(Channel channel) : channel_(std::move(channel)) {}

  [[noreturn]] void run() {
    for (;;) {
      MessageType type = MessageType::setup;
      receive(type);
      if (type == MessageType::setup) {
        const Status status = set_up();
        send(wire::encode(wire::Ready{status.code(), status.message()}));
      } else if (type == MessageType::request && executor_) {
        answer();
      } else {
        leave(kProtocolExitCode);
      }
    }
  }

 private:
  // The next message's payload, into payload_. Leaves when the application is gone or talks
  // nonsense.
  void receive(MessageType& type) {
    std::uint8_t header[wire::kHeaderBytes];
    check(channel_.receive_all(MutableBytes(header), kNoTimeout));
    const Result<wire::Header> decoded = wire::decode_header(Bytes(header));
    check(decoded.status());
    type = decoded->type;
    payload_.resize(decoded->payload_bytes);
    if (!payload_.empty()) check(channel_.receive_all(MutableBytes(payload_), kTransfer));
    check(wire::verify_payload(Bytes(header), payload_));
  }

  void send(const std::vector<std::uint8_t>& frame) { check(channel_.send(frame, kTransfer)); }

  static void check(const Status& status) {
    if (status.ok()) return;
    leave(status.code() == StatusCode::not_found ? kParentGoneExitCode : kProtocolExitCode);
  }

  Status set_up() {
    executor_.reset();
    device_.reset();
    Result<wire::Setup> setup = wire::decode_setup(payload_);
    if (!setup) return setup.status();
    QuirkTable quirks;
    if (Status status = quirks.add_text(setup->quirks, "quirks"); !status.ok()) return status;
    auto package = KernelPackage::open(std::move(setup->package), "package from the application");
    if (!package) return package.status();
    Result<std::unique_ptr<Device>> device = open_device(*setup);
    if (!device) return device.status();
    device_ = std::move(*device);
    executor_ = std::make_unique<TrialExecutor>(*device_, std::move(*package), setup->executor,
                                                std::move(quirks));
    return {};
  }

  void answer() {
    const Result<TrialRequest> request = wire::decode_request(payload_);
    check(request.status());
    send(wire::encode(executor_->run(*request)));
    if (executor_->poisoned()) leave(0);
  }

  Channel channel_;
  std::vector<std::uint8_t> payload_;
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
  idletune::Conversation(std::move(*channel)).run();
}
