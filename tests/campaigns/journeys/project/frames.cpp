// A program of somebody else's: blurs an image four times a frame, 30 frames a second, and lets
// idletune use what is left of each frame. Every pixel of the last frame is checked.
// usage: frames PACKAGE STATE_FOLDER SECONDS [MODEL]
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/learning.hpp>
#include <idletune/opencl.hpp>

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t kHeight = 360, kWidth = 480;
constexpr auto kFrame = std::chrono::milliseconds(33);

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double median(std::vector<double> times) {
  if (times.empty()) return 0;
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

bool is_blurred(const std::vector<float>& in, const std::vector<float>& out) {
  for (std::int64_t y = 0; y < kHeight; ++y) {
    for (std::int64_t x = 0; x < kWidth; ++x) {
      double sum = 0;
      for (int i = 0; i < 5; ++i) {
        for (int j = 0; j < 5; ++j) sum += in[(y + i) * (kWidth + 4) + x + j];
      }
      if (!(std::fabs(out[y * kWidth + x] - sum / 25) < 1e-5)) return false;
    }
  }
  return true;
}

int failed(const char* what, const idletune::Status& status) {
  std::fprintf(stderr, "frames: %s: %s\n", what, status.message().c_str());
  return 1;
}

struct Queue {
  cl_context context = nullptr;
  cl_device_id device = nullptr;
  cl_command_queue queue = nullptr;
};

Queue open_queue() {
  Queue opened;
  cl_platform_id platform = nullptr;
  if (clGetPlatformIDs(1, &platform, nullptr) == CL_SUCCESS &&
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &opened.device, nullptr) == CL_SUCCESS) {
    opened.context = clCreateContext(nullptr, 1, &opened.device, nullptr, nullptr, nullptr);
    opened.queue =
        clCreateCommandQueue(opened.context, opened.device, CL_QUEUE_PROFILING_ENABLE, nullptr);
  }
  return opened;
}

// Milliseconds of each frame.
std::vector<double> run_frames(idletune::Agent& agent, idletune::TunedKernel& blur, cl_mem in,
                               cl_mem out, cl_command_queue queue, double seconds) {
  const Clock::time_point begin = Clock::now();
  std::vector<double> times;
  bool faster = false;  // ten frames in turn took four fifths of the first ones
  while (milliseconds_since(begin) < seconds * 1000) {
    const Clock::time_point frame = Clock::now();
    for (int i = 0; i < 4; ++i) {
      if (auto done = blur.launch({kHeight, kWidth}, in, out); !done.ok()) {
        failed("launch", done);
        return {};
      }
    }
    clFinish(queue);
    times.push_back(milliseconds_since(frame));
    if (!faster && times.size() >= 20 &&
        median({times.end() - 10, times.end()}) <
            0.8 * median({times.begin(), times.begin() + 10})) {
      std::printf("a fifth faster after %.1f s\n", milliseconds_since(begin) / 1000);
      faster = true;
    }
    agent.idle(kFrame - (Clock::now() - frame));
    std::this_thread::sleep_until(frame + kFrame);
  }
  return times;
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) return 2;
  const Queue own = open_queue();
  if (own.queue == nullptr) {
    std::fprintf(stderr, "frames: no OpenCL device\n");
    return 1;
  }
  std::vector<float> in((kHeight + 4) * (kWidth + 4));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 251) / 251.0f;
  std::vector<float> out(kHeight * kWidth);
  cl_mem a = clCreateBuffer(own.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, in.size() * 4,
                            in.data(), nullptr);
  cl_mem b = clCreateBuffer(own.context, CL_MEM_WRITE_ONLY, out.size() * 4, nullptr, nullptr);

  const Clock::time_point start = Clock::now();
  auto device = idletune::opencl::adopt(own.context, own.device, own.queue);
  if (!device.ok()) return failed("device", device.status());
  idletune::AgentOptions options;
  options.state = words[2];
  options.helper = HELPER;
  options.learner = idletune::forest_learner();
  if (count > 4) options.model = words[4];
  auto agent = idletune::Agent::open(options);
  if (!agent.ok()) return failed("agent", agent.status());
  auto blur = agent->kernel(**device, words[1]);
  if (!blur.ok()) return failed("kernel", blur.status());
  if (count > 4) {
    if (auto ready = blur->prepare({kHeight, kWidth}); !ready.ok()) return failed("prepare", ready);
  }
  std::printf("open, kernel()%s: %.0f ms\n", count > 4 ? ", prepare()" : "",
              milliseconds_since(start));

  const std::vector<double> times = run_frames(*agent, *blur, a, b, own.queue, std::atof(words[3]));
  if (times.size() < 100) return 1;
  std::printf("first frame %.2f ms, first ten %.2f ms, last hundred %.2f ms (medians)\n", times[0],
              median({times.begin(), times.begin() + 10}),
              median({times.end() - 100, times.end()}));
  clEnqueueReadBuffer(own.queue, b, CL_TRUE, 0, out.size() * 4, out.data(), 0, nullptr, nullptr);
  const bool right = is_blurred(in, out);
  const auto now = blur->explain({kHeight, kWidth});
  if (now.ok()) {
    std::printf("%s runs %s; every pixel %s\n", idletune::selection_name(now->selection),
                now->running_text.c_str(), right ? "right" : "WRONG");
  }
  return right ? 0 : 1;
}
