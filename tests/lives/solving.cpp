#include "tests/lives/solving.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/krylov/background_conversion.hpp"
#include "kernels/krylov/first_runs.hpp"
#include "kernels/krylov/solve_memory.hpp"
#include "tests/lives/draw.hpp"
#include "tests/lives/systems.hpp"

namespace idletune::lives {

using krylov::KernelMark, krylov::ProductKernel, krylov::SparseFormat;

namespace {

constexpr double kTooSlow = 1.02;
constexpr Nanoseconds kOther = std::chrono::microseconds(20);  // a kernel that is no product
constexpr double kAround = 1e-3;  // seconds of a solve beside its iterations, and in all
constexpr double kAroundAProduct = 5e-6;

std::uint64_t number_of(const ProductKernel& kernel) {
  return mix(static_cast<std::uint64_t>(kernel.format),
             static_cast<std::uint64_t>(kernel.variant.kind),
             static_cast<std::uint64_t>(kernel.variant.work_group),
             static_cast<std::uint64_t>(kernel.variant.fused));
}

}  // namespace

// The agent's notes: what is noted is seen, and waiting takes played time.
class Solving::WatchedNotes final : public Notes {
 public:
  WatchedNotes(Solving& solving, std::unique_ptr<Notes> notes)
      : solving_(solving), notes_(std::move(notes)) {}
  std::string noted(std::uint64_t digest) const override { return notes_->noted(digest); }
  void note(std::uint64_t digest, const std::string& text) override {
    if (solving_.parts_.alive()) solving_.noted(digest, notes_->noted(digest), text);
    notes_->note(digest, text);
  }
  bool synced(Nanoseconds wait) override {
    constexpr Nanoseconds kBetweenLooks = std::chrono::milliseconds(1);
    if (wait.count() > 0) solving_.waits();
    for (; !notes_->synced(Nanoseconds{0}); wait -= kBetweenLooks) {
      if (wait.count() <= 0) return false;
      solving_.parts_.time()->pass(kBetweenLooks);
      solving_.waited_ += kBetweenLooks;
      solving_.waits_in_vain(kBetweenLooks);
    }
    solving_.in_vain_ = Nanoseconds{0};
    return true;
  }
  void account(Nanoseconds work, Nanoseconds lost) override {
    solving_.solvers_[solving_.current_].told += in_seconds(lost);
    solving_.parts_.entered(in_seconds(work), in_seconds(lost));
    notes_->account(work, lost);
  }

 private:
  Solving& solving_;
  const std::unique_ptr<Notes> notes_;
};

// What a call takes, but for waiting until the medium answers.
class Solving::Account {
 public:
  explicit Account(const Solving& solving)
      : solving_(solving), begin_(solving.parts_.time()->now() - solving.waited_) {}
  double seconds() const {
    return in_seconds(solving_.parts_.time()->now() - solving_.waited_ - begin_);
  }

 private:
  const Solving& solving_;
  const Nanoseconds begin_;
};

Solving::Solving(const World& world, Report& report, Parts parts)
    : world_(world), report_(report), parts_(std::move(parts)) {
  make_structures();
}

Solving::~Solving() { krylov::play_conversions(nullptr); }

void Solving::make_structures() {
  constexpr std::int64_t kMicroseconds[] = {30, 200, 3000, 20000};
  for (int s = 0; s < kStructures; ++s) {
    const std::uint64_t draw = mix(world_.seed, 200, static_cast<std::uint64_t>(s));
    Structure structure;
    const auto rows = 33 + static_cast<std::int32_t>(draw % 64);
    structure.matrix = matrix_of(world_.large && s == 0 ? 2100 : rows, s);
    structure.csr = std::chrono::microseconds(kMicroseconds[draw / 64 % 4]);
    structures_.push_back(std::move(structure));
  }
}

SolverScript Solving::script() {
  SolverScript script;
  script.on_compile = [this](const ProductKernel& kernel) { return compiled(kernel); };
  script.on_product = [this](const ProductKernel& kernel, Span<double> y) {
    return ran(kernel, y);
  };
  script.on_other = [this] { passes_beside(kOther); };
  script.on_step = [this]() -> Result<bool> {
    const std::uint64_t draw = mix(world_.seed, 213, static_cast<std::uint64_t>(version_)) % 8;
    if (draw == 0 && !world_.friendly) return Status(StatusCode::device_error, "a fused step");
    return draw < 3 && !world_.friendly;
  };
  script.on_copy = [this](std::size_t bytes) {
    passes_beside(Nanoseconds(2000 + static_cast<std::int64_t>(bytes / 8)));
  };
  script.now = [this] { return parts_.time()->now(); };
  return script;
}

ProductNature Solving::nature(const ProductKernel& kernel) const {
  if (krylov::is_default(kernel) || world_.friendly) return ProductNature::good;
  const std::uint64_t of_format = mix(world_.seed, 201, static_cast<std::uint64_t>(kernel.format));
  if (kernel.format != SparseFormat::csr && of_format % 12 == 0) return ProductNature::wrong;
  const std::uint64_t number = number_of(kernel);
  const bool changes = mix(world_.seed, 202, number) % 4 == 0;
  const std::uint64_t h =
      mix(world_.seed, 203, number, changes ? static_cast<std::uint64_t>(version_) : 0);
  if (h % 100 < 70) return ProductNature::good;
  return static_cast<ProductNature>(1 + h / 128 % 8);
}

Nanoseconds Solving::time_of(const ProductKernel& kernel) const {
  const Structure& structure = structure_of(current_);
  const std::uint64_t draw = mix(world_.seed, 204, number_of(kernel));
  const double ratio = krylov::is_default(kernel) ? 1 : 0.3 + 2 * unit(draw) * unit(draw + 1);
  return Nanoseconds(static_cast<std::int64_t>(static_cast<double>(structure.csr.count()) * ratio));
}

// On a thread of the solver's: no work of the device.
krylov::PlayedConversion Solving::conversion() {
  constexpr double kSeconds[] = {0, 1e-4, 3e-3, 0.1, 2};
  const double seconds = kSeconds[mix(world_.seed, 212, counter_++) % 5];
  return {seconds, [time = parts_.time(), seconds, begin = parts_.time()->now()] {
            return in_seconds(time->now() - begin) >= seconds;
          }};
}

// --- how lives begin and end ---

void Solving::begin_life(int version, std::unique_ptr<Notes> notes) {
  solved_version_ = std::exchange(version_, version);
  ++life_;
  krylov::begin_process();
  krylov::play_conversions([this] { return conversion(); });
  device_ = std::make_unique<SolverDevice>(std::to_string(version + 1), script());
  queue_ = std::make_unique<SolverQueue>(*device_);
  notes_ = std::make_unique<WatchedNotes>(*this, std::move(notes));
}

// What was being noted is on record in some way, or not at all.
void Solving::died(bool clean, bool faults) {
  ended_cleanly_ = clean;
  auto& harm = harm_[version_];
  for (auto each = harm.begin(); each != harm.end();) {
    Harm& of = each->second;
    of.kept = of.kept || clean || parts_.synced_since(of.operation);
    each = of.kept && !faults ? std::next(each) : harm.erase(each);
  }
  for (const std::string& kernel : announced_) {
    const auto closed = closed_.find(kernel);
    const bool open =
        is_running(kernel) || (closed != closed_.end() && !parts_.synced_since(closed->second));
    if (faults || (open && !clean)) exposed_[version_].insert(kernel);
  }
  expected_ = flushed_;
}

void Solving::end_process() {
  solvers_.clear();
  if (ended_cleanly_) {
    for (auto& [digest, texts] : expected_) texts = {notes_->noted(digest)};
  }
  notes_.reset();
  begun_.clear(), right_.clear(), announced_.clear(), running_.clear(), closed_.clear();
}

void Solving::check_start(bool reliable) {
  auto& accused = accused_[version_];
  for (const auto& [name, harm] : harm_[version_]) accused.insert(name.substr(0, name.find('@')));
  accused.insert(exposed_[version_].begin(), exposed_[version_].end());
  for (const std::uint64_t digest : digests_[version_]) {
    const krylov::KernelMarks marks = krylov::marks_in(notes_->noted(digest));
    for (const auto& [kernel, mark] : marks.all())
      if (accused.count(krylov::name_of(kernel)) == 0)
        say("I3:product-kernel-accused-wrongly", krylov::name_of(kernel));
  }
  if (reliable && ended_cleanly_)
    remembered_[solved_version_].insert(solved_.begin(), solved_.end());
  solved_.clear();
  for (const auto& [digest, texts] : expected_) {
    if (!reliable) break;
    const std::string is = notes_->noted(digest);
    if (std::find(texts.begin(), texts.end(), is) == texts.end())
      say("I4:note-is-lost", "'" + texts.front() + "', but '" + is + "'");
  }
  flushed_.clear();
}

void Solving::flushed() {
  for (auto& [digest, texts] : flushed_) texts = {notes_->noted(digest)};
  remembered_[version_].insert(solved_.begin(), solved_.end());
}

// --- the kernels ---

Status Solving::compiled(const ProductKernel& kernel) {
  constexpr std::int64_t kMicroseconds[] = {100, 2000, 20000};
  if (!parts_.alive()) return {};
  const Nanoseconds time = std::chrono::microseconds(kMicroseconds[mix(world_.seed, 205) % 3]);
  parts_.time()->pass(time);
  if (nature(kernel) == ProductNature::refused) return {StatusCode::compile_error, "refused"};
  return {};
}

Status Solving::ran(const ProductKernel& kernel, Span<double> y) {
  if (!parts_.alive()) return {};
  check_run(kernel, krylov::name_of(kernel));
  if (runs_to_error_ > 0 && --runs_to_error_ == 0) {
    failed_ = solvers_[current_].disturbed = true;
    if (is_running(krylov::name_of(kernel))) harmed(kernel, "error");
    return {StatusCode::device_error, "nobody's fault"};
  }
  const bool here = mix(world_.seed, 206, number_of(kernel)) % kStructures ==
                    static_cast<std::uint64_t>(current_ % kStructures);
  switch (nature(kernel)) {
    case ProductNature::crash_here:
      if (!here) break;
      [[fallthrough]];
    case ProductNature::crash: harmed(kernel, "crash"); return parts_.dies(), Status();
    case ProductNature::hang:
      harmed(kernel, "hang");
      parts_.time()->pass(std::chrono::seconds(5));
      if (parts_.alive()) parts_.dies();
      return {};
    case ProductNature::fails:
      harmed(kernel, "error");
      return {StatusCode::device_error, "the kernel failed"};
    case ProductNature::wrong_here:
      if (!here) break;
      [[fallthrough]];
    case ProductNature::wrong:
      harmed(kernel, "wrong");
      for (double& number : y) number = 2 * number + 1;
      break;
    case ProductNature::wrong_row:
      harmed(kernel, "wrong");
      // Of many rows not each is checked.
      for (std::size_t i = number_of(kernel) % 33; i<y.size(); i += y.size()> 1000 ? 33 : y.size())
        y[i] = counter_ % 2 == 0 ? std::numeric_limits<double>::quiet_NaN() : 1e3 + 2 * y[i];
      break;
    default: break;
  }
  const double noise = 0.99 + 0.02 * unit(mix(world_.seed, 207, counter_++));
  const double time = in_seconds(time_of(kernel)) * noise * parts_.speed();
  Running& running = solvers_[current_];
  running.disturbed = running.disturbed || parts_.speed() != 1;
  parts_.time()->pass(Nanoseconds(static_cast<std::int64_t>(time * 1e9)));
  if (harm_of(krylov::name_of(kernel)) == nullptr)
    right_.insert({current_, krylov::name_of(kernel)});
  return {};
}

bool Solving::is_right(const ProductKernel& kernel) const {
  return krylov::is_default(kernel) || right_.count({current_, krylov::name_of(kernel)}) > 0;
}

void Solving::check_run(const ProductKernel& kernel, const std::string& name) {
  if (const Harm* const harm = harm_of(name); harm != nullptr && !is_right(kernel))
    say("I2:product-kernel-runs-again-after-" + harm->as, name);
  const bool first = begun_.insert({current_ % kStructures, name}).second;
  if (!first || krylov::is_default(kernel) || !parts_.keeps()) return;
  bool announced = false;
  for (const std::uint64_t digest : digests_[version_])
    announced =
        announced || parts_.on_medium(digest).find(" " + name + "=running") != std::string::npos;
  if (!announced) say("I9:product-kernel-not-announced", name);
}

const Solving::Harm* Solving::harm_of(const std::string& name) const {
  const auto all = harm_.find(version_);
  if (all == harm_.end()) return nullptr;
  for (const std::string& known : {name, name + "@" + std::to_string(current_ % kStructures)})
    if (const auto harm = all->second.find(known); harm != all->second.end()) return &harm->second;
  return nullptr;
}

// Where this process has survived it with another structure, that is about this one only.
void Solving::harmed(const ProductKernel& kernel, const char* as) {
  const std::string name = krylov::name_of(kernel);
  const bool survived = std::any_of(right_.begin(), right_.end(),
                                    [&](const auto& each) { return each.second == name; });
  const std::string key = survived ? name + "@" + std::to_string(current_ % kStructures) : name;
  harm_[version_].insert({key, {is_running(name), parts_.operations(), as}});
}

bool Solving::is_running(const std::string& name) const {
  return std::any_of(running_.begin(), running_.end(),
                     [&](const auto& each) { return each.second.count(name) > 0; });
}

void Solving::noted(std::uint64_t digest, const std::string& before, const std::string& text) {
  auto& texts = flushed_[digest];
  if (texts.empty()) texts.push_back(before);
  texts.push_back(text);
  if (text.find("products") != 0) return;
  digests_[version_].insert(digest);
  std::set<std::string> now;
  const krylov::KernelMarks marks = krylov::marks_in(text);
  for (const auto& [kernel, mark] : marks.all())
    if (mark == KernelMark::running) now.insert(krylov::name_of(kernel));
  for (const std::string& name : running_[digest])
    if (now.count(name) == 0) closed_[name] = parts_.operations();
  announced_.insert(now.begin(), now.end());
  running_[digest] = std::move(now);
}

// --- what the application does ---

Solving::Running* Solving::solver_of(int s) {
  current_ = s;
  in_vain_ = beside_ = Nanoseconds{0};
  Running& running = solvers_[s];
  if (running.solver) return &running;
  const std::uint64_t draw =
      mix(world_.seed, 208, static_cast<std::uint64_t>(s), static_cast<std::uint64_t>(life_));
  krylov::SolverOptions& options = running.options;
  options.own_thread = draw / 16384 % 2 == 0;
  if (world_.mixed) options.precision = krylov::Precision::mixed;
  options.notes = notes_.get();
  options.choosing = draw % 20 == 0   ? krylov::Choosing::none
                     : draw % 20 < 10 ? krylov::Choosing::always
                                      : krylov::Choosing::when_pays;
  options.steps = draw / 32 % 2 == 0 ? krylov::Steps::apart : krylov::Steps::faster;
  if (draw / 64 % 4 == 0) options.format_limit_bytes = 4000;
  options.fixed_format = draw / 256 % 6 == 0;
  if (options.fixed_format) options.format = static_cast<SparseFormat>(draw / 2048 % 6);
  running.is_known = remembered_[version_].count(s % kStructures) > 0 && parts_.keeps();
  auto solver = krylov::Solver::make(*device_, *queue_, structure_of(s).matrix, options);
  if (!parts_.alive()) return nullptr;
  if (!works("make", solver.status())) return solvers_.erase(s), nullptr;
  running.solver.emplace(std::move(*solver));
  return &running;
}

std::vector<double> Solving::numbers(std::size_t count) {
  std::vector<double> numbers(count);
  for (double& number : numbers) {
    const double drawn = unit(mix(world_.seed, 209, counter_++));
    number = drawn < 0.5 ? drawn - 1 : drawn;
  }
  return numbers;
}

// But for errors of the device that are nobody's fault.
bool Solving::works(const char* what, const Status& status) {
  if (!status.ok() && !std::exchange(failed_, false))
    say(std::string("I14:") + what + "-fails", status.message());
  return status.ok();
}

void Solving::solve(int s, int times) {
  krylov::SparseMatrix& matrix = structure_of(s).matrix;
  for (int i = 0; i < times && parts_.alive(); ++i) {
    Running* const running = solver_of(s);
    if (running == nullptr) return;
    if (const std::uint64_t draw = mix(world_.seed, 211, counter_++); draw % 4 == 0) {
      for (double& value : matrix.values) value *= draw % 8 == 0 ? 3.0 : 0.3;
    }
    if (!works("values", running->solver->set_values(matrix.values))) return;
    const std::vector<double> b = numbers(static_cast<std::size_t>(matrix.pattern.rows));
    std::vector<double> x(b.size());
    krylov::SolveOptions options;
    options.solves_to_come = times - 1 - i;
    if (mix(world_.seed, 210, counter_++) % 2 == 0)
      options.preconditioner = krylov::Preconditioner::jacobi;
    if (world_.methods)
      options.method = static_cast<krylov::Method>(mix(world_.seed, 215, counter_) % 3);
    const Account account(*this);
    const auto report = running->solver->solve(b, x, options);
    if (!parts_.alive()) return;
    if (!works("solve", report.status())) {
      if (x != std::vector<double>(x.size())) say("I14:failed-solve-changes-x", "");
      return rests(*running, true);
    }
    if (report->ended != krylov::Ended::converged)
      return say("I14:solve-does-not-converge", report->reason);
    if (running->is_known && report->memory.find("the last solve took") != 0)
      say("I4:solve-is-forgotten", report->memory);
    solved_.insert(s % kStructures);
    if (!(error_of(matrix, x, b) < 1e-6)) say("I1:solution-is-wrong", std::to_string(s));
    const bool jacobi = options.preconditioner == krylov::Preconditioner::jacobi;
    const double others = in_seconds(kOther) * (jacobi ? 7 : 5);
    paid(*running, account.seconds(), products_of(*report, options), report->iterations * others,
         i + 1 == times);
    rests(*running, true);
  }
}

void Solving::multiply(int s, int times) {
  const krylov::SparseMatrix& matrix = structure_of(s).matrix;
  for (int i = 0; i < times && parts_.alive(); ++i) {
    Running* const running = solver_of(s);
    if (running == nullptr) return;
    const std::vector<double> x = numbers(static_cast<std::size_t>(matrix.pattern.rows));
    std::vector<double> y(x.size());
    if (!works("values", running->solver->set_values(matrix.values))) return;
    const Account account(*this);
    running->products_follow = i + 1 < times;
    const Status status = running->solver->multiply(x, y, times - 1 - i);
    if (!parts_.alive()) return;
    if (!works("product", status)) return rests(*running, true);
    if (!(error_of(matrix, x, y) < (world_.mixed ? 1e-5 : 1e-12)))
      say("I1:product-is-wrong", krylov::sparse_format_name(running->solver->chosen().format));
    paid(*running, account.seconds(), 1, 0, i + 1 == times);
    rests(*running, i + 1 == times);
  }
}

// At most.
std::uint32_t Solving::products_of(const krylov::SolveReport& report,
                                   const krylov::SolveOptions& options) {
  const std::uint32_t steps = report.iterations;
  if (options.method == krylov::Method::bicgstab) return 2 * steps;
  return options.method == krylov::Method::gmres ? steps + steps / options.restart : steps;
}

// So many products were due; `others`: seconds of other kernels where the steps of CG are apart.
void Solving::paid(Running& running, double seconds, std::uint32_t products, double others,
                   bool last) {
  const double csr = in_seconds(structure_of(current_).csr);
  running.spent += seconds;
  const double around = others == 0 ? kAroundAProduct : kAround;
  running.standard += around + products * csr + (world_.methods ? in_seconds(beside_) : others);
  const krylov::SolverOptions& options = running.options;
  const double lost = running.spent - kTooSlow * running.standard - kAround;
  if (running.disturbed || options.fixed_format || lost <= 0) return;
  if (lost > running.told)
    say("I5:solver-tells-too-little", std::to_string(lost) + " > " + std::to_string(running.told));
  if (last && options.choosing == krylov::Choosing::when_pays)
    say("I6:solver-slower", std::to_string(running.spent / running.standard));
}

void Solving::passes_beside(Nanoseconds time) {
  beside_ += time;
  parts_.time()->pass(time);
}

// What waits for the medium when nothing is under way would be accused of whatever happens.
void Solving::rests(const Running& running, bool nothing_follows) {
  const auto open = std::find_if(running_.begin(), running_.end(),
                                 [](const auto& each) { return !each.second.empty(); });
  if (!nothing_follows || open == running_.end()) return;
  for (const auto& [s, other] : solvers_)
    if (&other != &running && other.products_follow) return;
  say("I3:product-kernel-rests-announced", *open->second.begin());
}

void Solving::waits_in_vain(Nanoseconds more) {
  in_vain_ += more;
  if (in_vain_ > std::chrono::seconds(1) && parts_.alive())
    say("I10:solver-waits-too-long", std::to_string(in_seconds(in_vain_)));
}

// Who has another kernel goes on with that meanwhile.
void Solving::waits() {
  const auto running = solvers_.find(current_);
  if (running == solvers_.end() || !running->second.solver || !parts_.alive()) return;
  const bool always = running->second.options.choosing == krylov::Choosing::always;
  if (always || running->second.solver->csr_us() == 0) return;
  say("I10:solver-waits-for-the-medium", "");
}

}  // namespace idletune::lives
