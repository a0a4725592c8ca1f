#include "agent/host/cli/demo_application.hpp"

#include "agent/host/cli/context.hpp"
#include "agent/host/cli/open_device.hpp"
#include "models/core/random.hpp"

namespace idletune::cli {
namespace {

using Clock = std::chrono::steady_clock;

// A square product, a convolution as a matrix product, and a fully connected layer for a small
// batch.
const Shape kProblems[] = {Shape{256, 256, 256}, Shape{64, 3136, 147}, Shape{8, 1000, 512}};
// Every side is as many times longer on a GPU with memory of its own, which would else be idle: the
// frame above takes an H200 0.9 ms.
constexpr std::int64_t kLongerOnDiscrete = 4;

std::vector<std::uint8_t> random_floats(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint8_t> bytes(count * sizeof(float));
  for (std::size_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(random.uniform() * 2 - 1);
    std::memcpy(bytes.data() + i * sizeof(float), &value, sizeof value);
  }
  return bytes;
}

}  // namespace

Nanoseconds percentile(std::vector<Nanoseconds> times, double share) {
  if (times.empty()) return Nanoseconds{0};
  const auto rank = static_cast<std::size_t>(share * static_cast<double>(times.size() - 1));
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(rank), times.end());
  return times[rank];
}

void Phase::add(const FrameTimes& frame) {
  busy.push_back(frame.busy);
  total += frame.busy;
  launches.insert(launches.end(), frame.launches.begin(), frame.launches.end());
}

struct DemoApplication::Problem {
  Shape shape;
  std::unique_ptr<Buffer> a, b, c;
};

DemoApplication::DemoApplication(std::unique_ptr<ApplicationQueue> queue)
    : queue_(std::move(queue)) {}

DemoApplication::~DemoApplication() { (void)queue_->wait(); }

Result<std::unique_ptr<DemoApplication>> DemoApplication::create(Device& device) {
  auto queue = must(queue_of(device));
  std::unique_ptr<DemoApplication> application(new DemoApplication(std::move(queue)));
  const bool is_discrete = !device.info().is_cpu && !device.info().unified_memory;
  const std::int64_t longer = is_discrete ? kLongerOnDiscrete : 1;
  for (const Shape& shape : kProblems) {
    application->add_problem({longer * shape[0], longer * shape[1], longer * shape[2]});
  }
  return application;
}

void DemoApplication::add_problem(const Shape& shape) {
  auto problem = std::make_unique<Problem>();
  problem->shape = shape;
  const auto m = static_cast<std::size_t>(shape[0]);
  const auto n = static_cast<std::size_t>(shape[1]);
  const auto k = static_cast<std::size_t>(shape[2]);
  const std::pair<std::unique_ptr<Buffer>*, std::size_t> parts[] = {
      {&problem->a, m * k}, {&problem->b, k * n}, {&problem->c, m * n}};
  std::uint64_t seed = 1;
  for (const auto& [buffer, elements] : parts) {
    *buffer = must(queue_->allocate(elements * sizeof(float)));
    const std::vector<std::uint8_t> data = random_floats(elements, seed++);
    must(queue_->write(**buffer, 0, data));
    must(queue_->wait());
  }
  shapes_.push_back(shape);
  problems_.push_back(std::move(problem));
}

Result<FrameTimes> DemoApplication::frame(TunedKernel& kernel) {
  FrameTimes times;
  const Clock::time_point start = Clock::now();
  for (std::size_t i = 0; i < problems_.size() * kLaunchesPerFrame; ++i) {
    const std::unique_ptr<Problem>& problem = problems_[i % problems_.size()];
    const Clock::time_point before = Clock::now();
    Status status = kernel.launch(problem->shape, {problem->a->argument(), problem->b->argument(),
                                                   problem->c->argument(), 1.0f, 0.0f});
    times.launches.push_back(Clock::now() - before);
    if (!status.ok()) return status;
  }
  must(queue_->wait());
  times.busy = Clock::now() - start;
  return times;
}

}  // namespace idletune::cli
