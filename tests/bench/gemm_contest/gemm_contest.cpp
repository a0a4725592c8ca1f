// C = A B on the first OpenCL device: idletune::gemm untuned and tuned, CLBlast as installed or
// tuned by its own tuners, and OpenBLAS on the same cores. Every call is waited for; they take
// turns, so that whatever else the machine does meets all. Exits with 1 where a result differs from
// OpenBLAS's; never because of a time.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/in_process.hpp>
#include <idletune/learning.hpp>

#include "agent/host/explore/shape_list.hpp"
#include "platform/os/storage.hpp"
#include "tests/bench/gemm_contest/clblast_tuning.hpp"
#include "tests/bench/gemm_contest/workplace.hpp"
#include "tests/bench/quartiles.hpp"
#include "tests/bench/required.hpp"

namespace idletune::bench {
namespace {

struct Arguments {
  std::string shapes;  // file, or the name of a set; empty: four products
  double largest = 0;  // M N K; 0: any
  double tuning_seconds = 60;
  int rounds = 101;
  std::string state;
  std::string model;  // that the tuned one begins with; empty: none
  bool tuned_clblast = false;
  ClblastTuning tuning;
  ClblastKernel only;  // where it has a name: tune it, and nothing else
};

std::vector<Size> default_sizes() {
  return {{256, 256, 256}, {512, 512, 512}, {64, 3136, 147}, {8, 1000, 512}};
}

// Columns M, N, K, and where there are such TA and TB.
std::vector<Size> read_sizes(const Arguments& arguments) {
  if (arguments.shapes.empty()) return default_sizes();
  const std::string named = explore::named_shape_table(arguments.shapes);
  const std::vector<std::uint8_t> bytes =
      named.empty() ? required(read_file(arguments.shapes, explore::kMaxShapeListBytes))
                    : std::vector<std::uint8_t>(named.begin(), named.end());
  explore::ShapeColumns columns;
  columns.dimensions = {"M", "N", "K", "TA", "TB"};
  const Bytes table(bytes.data(), bytes.size());
  auto shapes = explore::read_shapes(table, arguments.shapes, columns);
  if (!shapes.ok()) {
    columns.fixed = {{"TA", 0}, {"TB", 0}};
    shapes = explore::read_shapes(table, arguments.shapes, columns);
  }
  std::vector<Size> sizes;
  for (const Shape& shape : required(std::move(shapes))) {
    const Size size{static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1]),
                    static_cast<std::size_t>(shape[2]), shape[3] != 0, shape[4] != 0};
    const bool fits = arguments.largest <= 0 || size.operations() / 2 <= arguments.largest;
    if (size.operations() > 0 && fits) sizes.push_back(size);
  }
  return sizes;
}

// An agent that only launches, or one that tunes.
struct Contestant {
  Contestant(Workplace& work, Mode mode, const Arguments& arguments, std::size_t shapes)
      : device(work.adopted()) {
    AgentOptions options;
    options.read_environment = false;
    options.mode = mode;
    options.model = kNoModel;
    if (mode == Mode::tune) {
      options.state = arguments.state;
      if (!arguments.model.empty()) options.model = arguments.model;
    }
    options.in_process = trials_in_process();
    options.learner = forest_and_tree_learner();
    options.max_shapes = std::min<std::size_t>(std::max<std::size_t>(shapes, 64), 4096);
    agent = std::make_unique<Agent>(required(Agent::open(options)));
    gemm = std::make_unique<Gemm>(required(Gemm::open(*agent, *device)));
  }
  std::unique_ptr<Device> device;
  std::unique_ptr<Agent> agent;
  std::unique_ptr<Gemm> gemm;
};

double milliseconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// What the others take relative to ours, over all products.
class Ratios {
 public:
  void add(double other, double ours) {
    logarithms_ += std::log(other / ours);
    faster_ += other > ours;
    ++count_;
  }
  void print(const char* name) const {
    const auto count = static_cast<double>(count_);
    std::printf("| %s / tuned | %.3f | %zu of %zu |\n", name, std::exp(logarithms_ / count),
                faster_, count_);
  }

 private:
  double logarithms_ = 0;
  std::size_t faster_ = 0;
  std::size_t count_ = 0;
};

class Contest {
 public:
  Contest(const Arguments& arguments, std::vector<Size> sizes)
      : arguments_(arguments),
        sizes_(std::move(sizes)),
        tuned_(work_, Mode::tune, arguments, sizes_.size()),
        untuned_(work_, Mode::off, arguments, sizes_.size()) {}

  int run() {
    if (arguments_.tuned_clblast) {
      const std::string said = use_tuned_clblast(work_, arguments_.tuning, usual_clblast_kernels());
      std::printf("CLBlast: %s.\n", said.c_str());
    }
    tune();
    std::printf(
        "C = A B in single precision, row-major; milliseconds, median of %d [quartiles].\n\n"
        "| M x N x K | OpenBLAS | CLBlast | idletune, untuned | idletune, tuned | GFLOP/s | "
        "CLBlast / tuned | OpenBLAS / tuned | configurations tried |\n"
        "|---|---|---|---|---|---|---|---|---|\n",
        arguments_.rounds);
    bool right = true;
    for (const Size& size : sizes_) right = play(size) && right;
    std::printf(
        "\n| over all products | geometric mean | idletune is faster at |\n|---|---|---|\n");
    clblast_.print("CLBlast");
    openblas_.print("OpenBLAS");
    untuned_ratio_.print("idletune, untuned");
    return right ? 0 : 1;
  }

 private:
  // The agent knows a product once it was launched.
  void tune() {
    for (const Size& size : sizes_) {
      work_.take(size);
      work_.idletune(*tuned_.gemm);
    }
    (void)tuned_.agent->tune_now(std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(arguments_.tuning_seconds)));
  }

  bool play(const Size& size) {
    work_.take(size);
    if (arguments_.tuning.per_shape) {
      const std::string said =
          use_tuned_clblast(work_, arguments_.tuning, clblast_kernels_at(size));
      std::fprintf(stderr, "CLBlast at %s: %s\n", size.text().c_str(), said.c_str());
    }
    require(untuned_.gemm->prepare(work_.product()));
    require(tuned_.gemm->prepare(work_.product()));
    const std::vector<std::pair<const char*, std::function<void()>>> contestants = {
        {"OpenBLAS", [&] { work_.openblas(); }},
        {"CLBlast", [&] { work_.clblast(); }},
        {"idletune, untuned", [&] { work_.idletune(*untuned_.gemm); }},
        {"idletune, tuned", [&] { work_.idletune(*tuned_.gemm); }}};
    bool right = true;
    for (const auto& [name, run] : contestants) {  // the warm-up
      run();
      if (name == contestants.front().first) continue;  // the truth
      const float difference = work_.difference();
      if (difference <= 1e-5f * static_cast<float>(size.k)) continue;
      std::fprintf(stderr, "gemm_contest: %s: %s is off by %g\n", size.text().c_str(), name,
                   static_cast<double>(difference));
      right = false;
    }
    std::vector<std::vector<double>> times(contestants.size());
    for (int round = 0; round < arguments_.rounds; ++round) {
      for (std::size_t i = 0; i < contestants.size(); ++i) {
        const std::size_t turn = (i + static_cast<std::size_t>(round)) % contestants.size();
        times[turn].push_back(milliseconds_of(contestants[turn].second));
      }
    }
    print(size, times);
    return right;
  }

  void print(const Size& size, const std::vector<std::vector<double>>& times) {
    std::printf("| %s |", size.text().c_str());
    std::vector<double> medians;
    for (const std::vector<double>& all : times) {
      const Quartiles spread = quartiles(all);
      medians.push_back(spread.median);
      std::printf(" %.3f [%.3f .. %.3f] |", spread.median, spread.low, spread.high);
    }
    const double ours = medians[3];
    const Explanation explanation = required(tuned_.gemm->explain(work_.product()));
    std::printf(" %.1f | %.2f | %.2f | %llu |\n", size.operations() / ours * 1e-6,
                medians[1] / ours, medians[0] / ours,
                static_cast<unsigned long long>(explanation.evaluated));
    std::fflush(stdout);
    openblas_.add(medians[0], ours);
    clblast_.add(medians[1], ours);
    untuned_ratio_.add(medians[2], ours);
  }

  const Arguments& arguments_;
  const std::vector<Size> sizes_;
  Workplace work_;
  Contestant tuned_, untuned_;
  Ratios openblas_, clblast_, untuned_ratio_;
};

constexpr const char* kUsage =
    "usage: gemm_contest [--shapes FILE|go2|go2/8|po2] [--largest MNK] [--tune-seconds S]\n"
    "         [--rounds N] [--state FOLDER] [--model FILE]\n"
    "         [--tuned-clblast FOLDER [--tuner-share X] [--tuner-seconds S] [--per-shape yes]]\n";

bool parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 >= argc) return false;
    const std::string name = argv[i];
    const char* value = argv[i + 1];
    if (name == "--shapes") {
      arguments.shapes = value;
    } else if (name == "--largest") {
      arguments.largest = std::atof(value);
    } else if (name == "--tune-seconds") {
      arguments.tuning_seconds = std::atof(value);
    } else if (name == "--rounds") {
      arguments.rounds = std::max(1, std::atoi(value));
    } else if (name == "--state") {
      arguments.state = value;
    } else if (name == "--model") {
      arguments.model = value;
    } else if (name == "--tuned-clblast") {
      arguments.tuned_clblast = true;
      arguments.tuning.folder = value;
    } else if (name == "--tuner-share") {
      arguments.tuning.share = std::atof(value);
    } else if (name == "--tuner-seconds") {
      arguments.tuning.seconds = static_cast<unsigned>(std::max(1, std::atoi(value)));
    } else if (name == "--per-shape") {
      arguments.tuning.per_shape = true;
    } else if (name == "--tune-clblast-kernel") {
      arguments.only.name = value;
    } else if (name == "--m" || name == "--n" || name == "--k") {
      Size& size = arguments.only.size;
      (name == "--m" ? size.m : name == "--n" ? size.n : size.k) = std::strtoul(value, nullptr, 10);
    } else {
      return false;
    }
  }
  return true;
}

int run(const Arguments& arguments) {
  if (!arguments.only.name.empty()) return tune_clblast(arguments.only, arguments.tuning);
  return Contest(arguments, read_sizes(arguments)).run();
}

}  // namespace
}  // namespace idletune::bench

int main(int argc, char** argv) {
  idletune::bench::Arguments arguments;
  if (!idletune::bench::parse(argc, argv, arguments)) {
    std::fputs(idletune::bench::kUsage, stderr);
    return 2;
  }
  return idletune::bench::ended("gemm_contest", [&] { return idletune::bench::run(arguments); });
}
