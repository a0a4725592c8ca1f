// Times of products on sparse matrices: of each matrix every format, kernel and work group that the
// packages have takes its turn again and again, as the solvers launch them, so that slow minutes
// fall on all alike. Writes one history per package into --output; a row's figure is the median of
// its turns, each of which is the mean of a few products in a row. What is hopelessly slow leaves
// early. With --race it says instead what a solver has chosen after so many products, beside the
// best of all candidates. Exits with 1 where a product is wrong; never because of a time.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <idletune/opencl.hpp>

#include "agent/host/cli/matrix_description.hpp"
#include "agent/host/cli/sparse_families.hpp"
#include "agent/host/cli/sparse_problem.hpp"
#include "kernels/krylov/device_matrix.hpp"
#include "kernels/krylov/product_check.hpp"
#include "models/core/median.hpp"
#include "models/core/random.hpp"
#include "models/host/history/history_builder.hpp"
#include "models/host/pack/pack.hpp"
#include "models/host/pack/xml.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/os/storage.hpp"
#include "tests/bench/required.hpp"

namespace idletune::bench {
namespace {

using namespace krylov;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kSeed = 20261123;
constexpr std::uint64_t kLimit = std::uint64_t{256} << 20;
constexpr double kTurnUs = 300;  // of products in a row
constexpr int kMostInARow = 20;
constexpr double kHopeless = 2.5;  // times the best, after kFewTurns: leaves
constexpr int kFewTurns = 3;

struct Candidate {
  std::size_t format = 0;
  Configuration configuration;
  KernelVariant variant;
  int in_a_row = 1;
  std::vector<double> turns;  // nanoseconds of a product
};

std::shared_ptr<const KernelPackage> package_of(std::size_t format, bool is_double) {
  std::string name = std::string("spmv_") + sparse_format_name(static_cast<SparseFormat>(format));
  for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
  const std::string xml =
      IDLETUNE_SOURCE_FOLDER "/kernels/krylov/spmv/" + name + (is_double ? "_double.xml" : ".xml");
  return required(KernelPackage::open(required(pack(required(read_kernel_xml(xml)))), xml));
}

KernelVariant variant_of(const KernelPackage& package, const Configuration& configuration) {
  KernelVariant variant;
  std::int64_t lanes = 1;
  std::int64_t group_per_row = 0;
  for (std::size_t p = 0; p < configuration.size(); ++p) {
    const std::string_view name = package.space().parameter_name(p);
    if (name == "WG") variant.work_group = static_cast<std::int32_t>(configuration[p]);
    if (name == "LANES") lanes = configuration[p];
    if (name == "GROUP_PER_ROW") group_per_row = configuration[p];
  }
  variant.kind = static_cast<std::int32_t>(group_per_row != 0 ? 1 : lanes > 1 ? lanes : 0);
  return variant;
}

SparsityPattern pattern_of(const std::string& text) {
  if (cli::names_sparse_family(text)) return required(cli::generated_pattern(text));
  const auto bytes = required(read_file(text, std::size_t{1} << 30));
  return required(cli::read_matrix(bytes, text)).matrix.pattern;
}

// One device and precision.
class Sweep {
 public:
  Sweep(bool is_double, int rounds, std::uint64_t most)
      : device_(required(opencl::open(0))),
        queue_(required(opencl::application_queue(*device_))),
        kernels_(*device_, is_double ? Precision::f64 : Precision::f32),
        rounds_(rounds),
        most_(most) {
    for (std::size_t f = 0; f < kSparseFormats; ++f) packages_.push_back(package_of(f, is_double));
    histories_.resize(kSparseFormats);
  }
  void measure(const std::string& text);
  void write(const std::string& folder) const;
  // What a solver in one format has chosen after so many products, beside all candidates of it.
  void judge_race(const std::string& text, SparseFormat format, int products);

 private:
  std::vector<Candidate> candidates() const;
  void put_numbers();
  double products_ns(const Candidate& candidate, int count);
  void take_turns(std::vector<Candidate>& all);
  void keep(std::size_t format, const cli::SparseProblem& problem,
            const std::vector<Candidate>& all);

  std::unique_ptr<Device> device_;
  std::unique_ptr<ApplicationQueue> queue_;
  DeviceKernels kernels_;
  int rounds_;
  std::uint64_t most_;  // candidates of a format
  std::vector<std::shared_ptr<const KernelPackage>> packages_;
  std::vector<std::vector<History>> histories_;
  SparseMatrix matrix_;
  std::unique_ptr<DeviceMatrix> forms_[kSparseFormats];
  std::unique_ptr<Buffer> x_, y_;
};

std::vector<Candidate> Sweep::candidates() const {
  std::vector<Candidate> all;
  for (std::size_t f = 0; f < kSparseFormats; ++f) {
    if (!forms_[f]) continue;
    const Space& space = packages_[f]->space();
    for (std::uint64_t i = 0; i < std::min(space.valid_count(), most_); ++i) {
      Candidate candidate;
      candidate.format = f;
      candidate.configuration = space.at(i);
      candidate.variant = variant_of(*packages_[f], candidate.configuration);
      all.push_back(std::move(candidate));
    }
  }
  return all;
}

void Sweep::put_numbers() {
  Random random(kSeed);
  matrix_.values.resize(matrix_.pattern.entries());
  for (double& value : matrix_.values)
    value = static_cast<double>(static_cast<float>(2 * random.uniform() - 1));
  const auto columns = static_cast<std::size_t>(matrix_.pattern.columns);
  std::vector<std::uint8_t> bytes(columns * kernels_.number_bytes());
  for (std::size_t i = 0; i < columns; ++i) {
    const double number = 2 * random.uniform() - 1;
    const auto single = static_cast<float>(number);
    if (kernels_.number_bytes() == sizeof(double)) {
      std::memcpy(&bytes[i * sizeof number], &number, sizeof number);
    } else {
      std::memcpy(&bytes[i * sizeof single], &single, sizeof single);
    }
  }
  x_ = required(queue_->allocate(bytes.size()));
  y_ = required(
      queue_->allocate(static_cast<std::size_t>(matrix_.pattern.rows) * kernels_.number_bytes()));
  require(queue_->write(*x_, 0, bytes));
  require(queue_->wait());
}

double Sweep::products_ns(const Candidate& candidate, int count) {
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < count; ++i)
    require(forms_[candidate.format]->multiply(kernels_, candidate.variant, *x_, *y_));
  require(queue_->wait());
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / count;
}

void Sweep::take_turns(std::vector<Candidate>& all) {
  std::vector<double> x(static_cast<std::size_t>(matrix_.pattern.columns));
  std::vector<double> y(static_cast<std::size_t>(matrix_.pattern.rows));
  require(read_numbers(*queue_, *x_, kernels_.number_bytes(), x));
  for (Candidate& candidate : all) {
    products_ns(candidate, 1);  // code is generated
    require(read_numbers(*queue_, *y_, kernels_.number_bytes(), y));
    if (!is_product(matrix_, x, y, kernels_.number_bytes() == sizeof(double)))
      throw std::runtime_error(
          to_text(packages_[candidate.format]->space(), candidate.configuration) +
          ": a wrong product");
    const double once_us = products_ns(candidate, 1) / 1000;
    candidate.in_a_row = std::clamp(static_cast<int>(kTurnUs / once_us), 1, kMostInARow);
  }
  double best = 0;
  for (int round = 0; round < rounds_; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      Candidate& candidate = all[(i + 17 * static_cast<std::size_t>(round)) % all.size()];
      if (candidate.turns.size() >= kFewTurns && median_of(candidate.turns) > kHopeless * best)
        continue;
      candidate.turns.push_back(products_ns(candidate, candidate.in_a_row));
      if (candidate.turns.size() < kFewTurns) continue;
      const double now = median_of(candidate.turns);
      best = best == 0 ? now : std::min(best, now);
    }
  }
}

void Sweep::keep(std::size_t format, const cli::SparseProblem& problem,
                 const std::vector<Candidate>& all) {
  const KernelPackage& package = *packages_[format];
  HistoryBuilder builder;
  builder.expect_missing_compile_times();
  for (const Candidate& candidate : all) {
    if (candidate.format != format) continue;
    ImportedRow row;
    for (std::size_t p = 0; p < candidate.configuration.size(); ++p)
      row.parameters.emplace_back(std::string(package.space().parameter_name(p)),
                                  Json(candidate.configuration[p]));
    for (const double turn : candidate.turns) row.samples.push_back(std::round(turn));
    row.run_time = std::round(median_of(candidate.turns));
    require(builder.add(std::move(row)));
  }
  History history = builder.finish();
  history.kernel = std::string(package.name());
  history.device = device_->info().name;
  history.driver = device_->info().platform + "; " + device_->info().driver;
  history.shape = package.inputs().with_features(problem.shape);
  for (std::size_t d = 0; d < package.dimension_count(); ++d)
    history.inputs.emplace_back(package.inputs().dimension_name(d));
  for (std::size_t f = 0; f < package.feature_count(); ++f)
    history.inputs.emplace_back(package.inputs().feature_name(f));
  history.valid_count = package.space().valid_count();
  for (const Expression& constraint : package.space().constraints())
    history.constraints.emplace_back(constraint.text());
  Json note = problem.note;
  note["turns"] = true;
  history.notes.emplace_back(cli::SparseProblem::kNote, note.dump());
  histories_[format].push_back(std::move(history));
}

void Sweep::measure(const std::string& text) {
  matrix_.pattern = pattern_of(text);
  put_numbers();
  std::vector<std::pair<std::size_t, cli::SparseProblem>> problems;
  for (std::size_t f = 0; f < kSparseFormats; ++f) {
    forms_[f].reset();
    auto problem = cli::sparse_problem(*packages_[f], text, kLimit);
    if (problem.status().code() == StatusCode::out_of_memory) continue;
    problems.emplace_back(f, required(std::move(problem)));
    forms_[f] = std::make_unique<DeviceMatrix>(
        *queue_,
        required(convert(matrix_.pattern, static_cast<SparseFormat>(f), kernels_.number_bytes(),
                         kLimit)),
        kernels_.number_bytes());
    require(forms_[f]->upload(matrix_.values));
  }
  std::vector<Candidate> all = candidates();
  take_turns(all);
  for (const auto& [format, problem] : problems) keep(format, problem, all);
}

void Sweep::judge_race(const std::string& text, SparseFormat format, int products) {
  matrix_.pattern = pattern_of(text);
  put_numbers();
  for (auto& form : forms_) form.reset();
  auto stored = convert(matrix_.pattern, format, kernels_.number_bytes(), kLimit);
  if (!stored.ok()) return;
  SolverOptions options;
  options.choosing = Choosing::always;
  options.fixed_format = true;
  options.format = format;
  options.precision = kernels_.number_bytes() == sizeof(double) ? Precision::f64 : Precision::f32;
  Solver solver = required(Solver::make(*device_, *queue_, matrix_, options));
  const std::vector<double> x(static_cast<std::size_t>(matrix_.pattern.columns), 1.0);
  std::vector<double> y(static_cast<std::size_t>(matrix_.pattern.rows));
  for (int i = 0; i < products; ++i) require(solver.multiply(x, y, 1e6));
  const Chosen chosen = solver.chosen();
  const std::int32_t kind = chosen.group_per_row ? 1 : chosen.lanes > 1 ? int(chosen.lanes) : 0;
  const auto f = static_cast<std::size_t>(format);
  forms_[f] = std::make_unique<DeviceMatrix>(*queue_, std::move(*stored), kernels_.number_bytes());
  require(forms_[f]->upload(matrix_.values));
  std::vector<Candidate> all = candidates();
  take_turns(all);
  // The best by even turns, timed by odd ones: the luckiest of many is no measure.
  double own[2] = {}, best[2] = {}, lucky = 0;
  for (const Candidate& candidate : all) {
    std::vector<double> halves[2];
    for (std::size_t i = 0; i < candidate.turns.size(); ++i)
      halves[i % 2].push_back(candidate.turns[i]);
    const double times[2] = {median_of(halves[0]), median_of(halves[1])};
    if (candidate.variant.kind == kind &&
        candidate.variant.work_group == static_cast<std::int32_t>(chosen.work_group))
      own[0] = median_of(candidate.turns), own[1] = times[1];
    if (best[0] == 0 || times[0] < best[0]) best[0] = times[0], best[1] = times[1];
    const double all_turns = median_of(candidate.turns);
    if (lucky == 0 || all_turns < lucky) lucky = all_turns;
  }
  std::printf("| `%s` | %s | %d, %u | %.1f | %.3f | %.3f |\n",
              cli::sparse_problem_name(text).c_str(), sparse_format_name(format), kind,
              chosen.work_group, own[0] / 1000, lucky / own[0], best[1] / own[1]);
}

void Sweep::write(const std::string& folder) const {
  for (std::size_t f = 0; f < kSparseFormats; ++f) {
    if (histories_[f].empty()) continue;
    const std::string path = folder + "/" + std::string(packages_[f]->name()) + ".ithistory";
    require(write_file_atomically(path, write_histories(histories_[f]), FileSync::no));
  }
}

int run(const std::vector<std::string>& matrices, bool is_double, int rounds,
        const std::string& folder, int race, std::uint64_t most) {
  Sweep sweep(is_double, rounds, most);
  if (race > 0) {
    std::printf(
        "After %d products, by format: kernel (0: a work item per row, 1: a group, else so many "
        "items) and group, microseconds, the best's time over its own, and the same where half of "
        "the turns choose the best and the others time it.\n\n"
        "| matrix | format | chosen | us | kept | kept in other turns "
        "|\n|---|---|---|---|---|---|\n",
        race);
    for (const std::string& text : matrices) {
      for (const SparseFormat format : {SparseFormat::csr, SparseFormat::ell, SparseFormat::sell})
        sweep.judge_race(text, format, race);
      std::fflush(stdout);
    }
    return 0;
  }
  for (const std::string& text : matrices) {
    const Clock::time_point begin = Clock::now();
    sweep.measure(text);
    const std::chrono::duration<double> took = Clock::now() - begin;
    std::printf("%s: %.1f s\n", text.c_str(), took.count());
    std::fflush(stdout);
  }
  sweep.write(folder);
  return 0;
}

}  // namespace
}  // namespace idletune::bench

int main(int argc, char** argv) {
  using namespace idletune;
  int rounds = 15;
  int race = 0;
  std::uint64_t most = UINT64_MAX;
  bool is_double = true;
  std::string folder = ".";
  std::vector<std::string> matrices;
  return idletune::bench::ended("sparse_products", [&] {
    for (int i = 1; i < argc; ++i) {
      const bool value = i + 1 < argc;
      if (std::strcmp(argv[i], "--rounds") == 0 && value) {
        rounds = std::max(1, std::atoi(argv[++i]));
      } else if (std::strcmp(argv[i], "--precision") == 0 && value) {
        is_double = std::strcmp(argv[++i], "f32") != 0;
      } else if (std::strcmp(argv[i], "--most") == 0 && value) {  // of each format, to try it out
        most = std::strtoull(argv[++i], nullptr, 10);
      } else if (std::strcmp(argv[i], "--race") == 0 && value) {
        race = std::max(0, std::atoi(argv[++i]));
      } else if (std::strcmp(argv[i], "--output") == 0 && value) {
        folder = argv[++i];
      } else if (argv[i][0] != '-') {
        for (const std::string& text : bench::required(cli::sparse_problems_of(argv[i])))
          matrices.push_back(text);
      } else {
        std::fprintf(stderr,
                     "usage: sparse_products [--rounds N] [--precision f32|f64] [--output FOLDER] "
                     "[--race PRODUCTS] [--most N] "
                     "MATRIX|FOLDER|FAMILY:ROWS...\n");
        return 2;
      }
    }
    return bench::run(matrices, is_double, rounds, folder, race, most);
  });
}
