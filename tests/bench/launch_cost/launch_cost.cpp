// Measures what TunedKernel::launch costs beside the raw OpenCL calls that do the same (eight times
// clSetKernelArg, then clEnqueueNDRangeKernel): on an OpenCL library that does nothing, where the
// difference is all idletune's, and on the machine's own device. The two take turns, so that
// whatever else the machine does meets both. Exits with 1 if a launch allocated on the heap or did
// not do what the raw calls do; never because of a time.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/bench/launch_cost/allocation_counter.hpp"
#include "tests/bench/launch_cost/contest.hpp"
#include "tests/bench/launch_cost/measurement.hpp"
#include "tests/bench/required.hpp"
#include "tests/bench/stub_opencl/stub_control.h"
#include "tests/loaded_library.hpp"
#include "tests/paths.hpp"

namespace idletune::bench {
namespace {

// --- the library that does nothing ---------------------------------------------------------------

struct Stub {
  const test::LoadedLibrary library{IDLETUNE_STUB_OPENCL};
  decltype(&stub_reset) reset = library["stub_reset"];
  decltype(&stub_set) set = library["stub_set"];
  decltype(&stub_calls) calls = library["stub_calls"];
  decltype(&stub_last_launch) last_launch = library["stub_last_launch"];
};

// What trials run on meanwhile, in this process and in the helper, computes the product.
class ComputingStub {
 public:
  explicit ComputingStub(const Stub& stub) {
    stub.reset();
    stub.set(STUB_RECORD_LAUNCHES, 0);
    stub.set(STUB_GEMM, 1);
  }

 private:
  const Variable library_{"IDLETUNE_OPENCL_LIBRARY", IDLETUNE_STUB_OPENCL};
  const Variable computes_{"STUB_OPENCL_GEMM", "2"};
};

struct StubScenario {
  const char* name;
  std::size_t shapes;
  bool tuning;  // goes on meanwhile, and background tuning is on
  bool profiled_queue;
  bool without_slot;         // the agent knows as many shapes already as it is allowed to
  std::size_t launches = 1;  // that a variant consists of
};

constexpr StubScenario kStubScenarios[] = {
    {"one shape", 1, false, false, false},
    {"2 shapes in turn", 2, false, false, false},
    {"16 shapes in turn", 16, false, false, false},
    {"one shape, while tuning", 1, true, false, false},
    {"16 shapes, while tuning", 16, true, false, false},
    {"one shape, profiled queue", 1, false, true, false},
    {"one shape, profiled queue, while tuning", 1, true, true, false},
    {"a shape beyond max_shapes", 2, false, false, true},
    {"three launches with scratch", 1, false, false, false, 3},
    {"six launches with scratch", 1, false, false, false, 6},
};

std::vector<Shape> stub_shapes(std::size_t count) {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < count; ++i) {
    const auto step = static_cast<std::int64_t>(i);
    shapes.push_back(Shape{64 + 32 * (step % 4), 64 + 32 * (step / 4), 64});
  }
  return shapes;
}

// `same_range`: false where another configuration may have been adopted.
bool same_launch(const StubLaunch& a, const StubLaunch& b, bool same_range) {
  bool same = a.queue == b.queue && a.dimensions == b.dimensions && a.wait_count == b.wait_count &&
              a.argument_count == b.argument_count;
  for (unsigned i = 0; same && same_range && i < a.dimensions; ++i) {
    same = a.global[i] == b.global[i] && a.local[i] == b.local[i];
  }
  for (unsigned i = 0; same && i < a.argument_count; ++i) {
    same = a.argument_size[i] == b.argument_size[i] &&
           std::memcmp(a.argument[i], b.argument[i], a.argument_size[i]) == 0;
  }
  return same;
}

// `exactly`: nobody else calls.
void require_calls(unsigned long found, std::size_t expected, const char* what, bool exactly) {
  if (found == expected || (!exactly && found > expected)) return;
  throw std::runtime_error(std::string(what) + ": " + std::to_string(found) + " calls, expected " +
                           std::to_string(expected));
}

// Throws unless launches are profiled now and then where the queue can, and never elsewhere.
void require_profiles(unsigned long queries, const StubScenario& scenario, std::size_t launches) {
  if (scenario.profiled_queue ? queries >= launches / 64 && queries <= launches / 16 + 16
                              : queries == 0) {
    return;
  }
  throw std::runtime_error(std::string(scenario.name) + ": " + std::to_string(queries) +
                           " launches were profiled");
}

Measurement measure_on_stub(const Stub& stub, const StubScenario& scenario, const Effort& effort) {
  const ComputingStub computing(stub);
  ContestOptions options;
  options.library = IDLETUNE_STUB_OPENCL;
  options.profiled_queue = scenario.profiled_queue;
  options.nothing_to_tune = !scenario.tuning;
  options.shapes = stub_shapes(scenario.shapes);
  options.launches = scenario.launches;
  if (scenario.without_slot)
    options.max_shapes = 1;  // the second finds none, and it alone is timed
  Contest contest(options);
  // The stub allocates the events that idletune asks for; real drivers may, too.
  exclude_library_of(reinterpret_cast<const void*>(contest.api().EnqueueNDRangeKernel));
  if (scenario.tuning) require(contest.agent().start_background());
  const unsigned long enqueued = stub.calls("clEnqueueNDRangeKernel");
  const unsigned long set = stub.calls("clSetKernelArg");
  const unsigned long profiles = stub.calls("clReleaseEvent");
  const Measurement result = measure_blocks(scenario.name, contest, effort, scenario.tuning,
                                            scenario.without_slot ? 1 : 0);
  const std::size_t launches = (result.launches + result.raw_launches) * scenario.launches;
  require_calls(stub.calls("clEnqueueNDRangeKernel") - enqueued, launches, "clEnqueueNDRangeKernel",
                !scenario.tuning);
  // Ours may leave out what is set already.
  const unsigned long most = 8 * launches, least = most - 5 * result.launches * scenario.launches;
  const unsigned long sets = stub.calls("clSetKernelArg") - set;
  require_calls(sets, std::max(least, std::min(most, sets)), "clSetKernelArg", !scenario.tuning);
  // With nobody who asks for the times, profiles are dropped, all but four that wait.
  if (!scenario.tuning) {
    require_profiles(stub.calls("clReleaseEvent") - profiles, scenario, result.launches);
  }
  require_same_launches<StubLaunch>(stub, STUB_RECORD_LAUNCHES, contest,
                                    [&](const auto& raw, const auto& tuned) {
                                      return same_launch(raw, tuned, !scenario.tuning);
                                    });
  exclude_library_of(nullptr);
  return result;
}

// Shapes of one class in every configuration: two whole tiles or more along each dimension, and an
// odd rest. The last is the largest.
std::vector<Shape> shapes_of_a_class(std::size_t count) {
  std::vector<Shape> shapes;
  const auto side = [](std::size_t i) { return 257 + 2 * static_cast<std::int64_t>(i % 47); };
  for (std::size_t i = 0; i < count; ++i) shapes.push_back({side(i), side(i / 47), side(i / 2209)});
  shapes.push_back({side(46), side(46), side(46)});
  return shapes;
}

struct NeverSeen {
  const char* name;
  bool class_ready;
  std::size_t launches;  // that a variant consists of
};

constexpr NeverSeen kNeverSeen[] = {
    {"shapes never seen, their class ready", true, 1},
    {"shapes never seen, the default", false, 1},
    {"shapes never seen, the default of three launches", false, 3},
};

// KiB of this process that are in memory; 0 where the system does not say.
std::int64_t resident_kib() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  long long pages = 0, resident = 0;
  const int read = std::fscanf(file, "%lld %lld", &pages, &resident);
  std::fclose(file);
  return read == 2 ? resident * ::sysconf(_SC_PAGESIZE) / 1024 : 0;
}

// Each shape is launched once, in order: at its first launch it runs what was adopted for the first
// one, or, where nothing was, the default. Throws if another share of the launches does.
Measurement measure_never_seen(const NeverSeen& scenario, const Stub& stub, const Effort& effort) {
  const ComputingStub computing(stub);
  ContestOptions options;
  options.library = IDLETUNE_STUB_OPENCL;
  options.nothing_to_tune = !scenario.class_ready;
  options.profiled_queue = scenario.class_ready;
  options.launches = scenario.launches;
  options.prepared = false;
  if (scenario.launches > 1) options.max_shapes = 1;
  const std::size_t pairs = effort.pairs / 20;
  options.shapes = shapes_of_a_class(1 + pairs * effort.block);
  Contest contest(options);
  exclude_library_of(reinterpret_cast<const void*>(contest.api().EnqueueNDRangeKernel));
  if (scenario.class_ready) contest.tune(0);
  for (int i = 0; scenario.class_ready && i < 64; ++i) {  // compared with the default at the second
    contest.launch_idletune(1);
    (void)contest.agent().idle(std::chrono::milliseconds(0));
  }
  if (scenario.launches > 1) {  // the first has the only slot; then there is scratch for all others
    contest.launch_idletune(0);
    contest.launch_idletune(contest.shape_count() - 1);
    (void)contest.agent().idle(std::chrono::milliseconds(0));
  }
  Measurement result;
  result.scenario = scenario.name;
  std::vector<Pair> measured;
  measured.reserve(pairs);
  std::int64_t resident_at_first = 0;
  for (std::size_t p = 0; p < pairs; ++p) {
    const std::size_t first = 1 + p * effort.block;
    measured.push_back(measure_pair(contest, effort, first, p % 2 == 0, result.allocations));
    if (p == 0) resident_at_first = resident_kib();
  }
  result.growth_kib = resident_kib() - resident_at_first;
  result.raw_launches = result.launches = pairs * effort.block;
  summarize(measured, result);
  const AgentStatus status = contest.agent().status();
  const std::uint64_t expected = scenario.class_ready ? status.unslotted_launches : 0;
  if (status.class_launches != expected || status.unslotted_launches + 64 < result.launches) {
    throw std::runtime_error(
        std::string(scenario.name) + ": " + std::to_string(status.class_launches) +
        " launches ran their class's variant, expected " + std::to_string(expected));
  }
  exclude_library_of(nullptr);
  return result;
}

// --- the machine's own device ---

struct DeviceMeasurement {
  std::string device;   // empty: not measured
  std::string skipped;  // why
  Measurement measurement;
};

struct DeviceEffort {
  std::size_t batches;
  std::size_t launches;  // of each contestant per batch
};

// The medians of launches that take turns, each waited for.
Pair batch_medians(Contest& contest, std::size_t launches) {
  std::vector<double> raw_ns, idletune_ns;
  for (std::size_t i = 0; i < 2 * launches; ++i) {
    const bool raw_now = i % 4 == 0 || i % 4 == 3;  // A B B A
    (raw_now ? raw_ns : idletune_ns).push_back(elapsed_ns([&] {
      raw_now ? contest.launch_raw(0) : contest.launch_idletune(0);
      contest.finish();
    }));
  }
  return {quartiles(raw_ns).median, quartiles(idletune_ns).median};
}

Measurement measure_batches(const std::string& scenario, Contest& contest,
                            const DeviceEffort& effort) {
  Measurement result;
  result.scenario = scenario;
  result.launches = effort.batches * effort.launches;
  std::vector<Pair> pairs(effort.batches);
  for (Pair& pair : pairs) pair = batch_medians(contest, effort.launches);
  summarize(pairs, result);
  return result;
}

DeviceMeasurement measure_on_device(const DeviceEffort& effort) {
  DeviceMeasurement result;
  ContestOptions options;
  options.library = environment_opencl_library();
  options.nothing_to_tune = false;  // no stage runs: idle() is not called, nor is the background on
  options.shapes = {Shape{16, 16, 16}};
  std::unique_ptr<Contest> contest;
  try {
    contest = std::make_unique<Contest>(options);
  } catch (const std::exception& error) {
    result.skipped = error.what();
    return result;
  }
  const DeviceInfo& info = contest->device().info();
  if (contest->output_raw(0) != contest->output_idletune(0)) {
    throw std::runtime_error("idletune's launch computes something else than the raw one");
  }
  result.measurement = measure_batches("GEMM 16 x 16 x 16, launch and clFinish", *contest, effort);
  result.device = info.platform + ", " + info.name;
  return result;
}

// --- output ---

void print_table(const std::vector<Measurement>& stub, const DeviceMeasurement& device) {
  print_table_head();
  for (const Measurement& m : stub) print_row(m, true);
  if (device.skipped.empty()) {
    print_row(device.measurement, false);
    std::printf("\nThe last row ran on %s; the others on a driver that does nothing.\n",
                device.device.c_str());
  } else {
    std::printf("\nNo device: %s\n", device.skipped.c_str());
  }
  for (const Measurement& m : stub) {
    if (!m.growth_kib) continue;
    std::printf("\n%s: %zu launches, the process grew by %lld KiB after the first block.\n",
                m.scenario.c_str(), m.launches, static_cast<long long>(*m.growth_kib));
  }
}

nlohmann::json json_of(const Quartiles& q) {
  return {{"median", q.median}, {"lower_quartile", q.low}, {"upper_quartile", q.high}};
}

nlohmann::json json_of(const Measurement& m, bool count_allocations) {
  nlohmann::json json = {{"scenario", m.scenario},
                         {"raw_ns", json_of(m.raw_ns)},
                         {"idletune_ns", json_of(m.idletune_ns)},
                         {"difference_ns", json_of(m.difference_ns)},
                         {"ratio", json_of(m.ratio)},
                         {"launches", m.launches},
                         {"steps_of_tuning", m.steps}};
  if (count_allocations) {
    json["first_launch_allocations"] = m.first_allocations;
    json["allocations"] = m.allocations;
  }
  if (m.growth_kib) json["growth_kib"] = *m.growth_kib;
  return json;
}

void print_json(const std::vector<Measurement>& stub, const DeviceMeasurement& device) {
  nlohmann::json all = {{"arguments", 8}, {"stub", nlohmann::json::array()}};
  for (const Measurement& m : stub) all["stub"].push_back(json_of(m, true));
  if (device.skipped.empty()) {
    all["device"] = json_of(device.measurement, false);
    all["device"]["name"] = device.device;
  } else {
    all["device"] = {{"skipped", device.skipped}};
  }
  std::printf("%s\n", all.dump(2).c_str());
}

// Of launches that allocate nothing: pages that are touched for the first time, and chance.
constexpr std::int64_t kMostGrowthKib = 256;

// What must hold whatever the machine does. Reports on stderr.
bool sane(const Measurement& m, bool count_allocations) {
  if (count_allocations && m.first_allocations + m.allocations != 0) {
    std::fprintf(stderr, "%s: launches allocated %llu + %llu times, expected never\n",
                 m.scenario.c_str(), static_cast<unsigned long long>(m.first_allocations),
                 static_cast<unsigned long long>(m.allocations));
    return false;
  }
  if (m.growth_kib && *m.growth_kib > kMostGrowthKib) {
    std::fprintf(stderr, "%s: the process grew by %lld KiB, expected %lld at most\n",
                 m.scenario.c_str(), static_cast<long long>(*m.growth_kib),
                 static_cast<long long>(kMostGrowthKib));
    return false;
  }
  if (!(m.raw_ns.median > 0) || !(m.idletune_ns.median > 0)) {
    std::fprintf(stderr, "%s: no time was measured\n", m.scenario.c_str());
    return false;
  }
  return true;
}

// Throws if allocations are overlooked, be it through operator new or through malloc.
void require_that_allocations_count() {
  const std::uint64_t before = allocations_of_this_thread();
  void* volatile blocks[] = {::operator new(1), std::malloc(1)};
  const std::string grown(200, 'x');
  const std::uint64_t counted = allocations_of_this_thread() - before;
  ::operator delete(blocks[0]);
  std::free(blocks[1]);
  if (counted != 3 || grown.empty()) throw std::runtime_error("allocations are not counted");
}

// `only`: the scenarios whose name holds this.
int run(bool quick, bool json, const std::string& only) {
  require_that_allocations_count();
  const Effort on_stub = quick ? Effort{20, 100, 1} : Effort{2000, 1000, 20};
  const DeviceEffort on_device = quick ? DeviceEffort{4, 4} : DeviceEffort{200, 50};
  const Stub stub;
  std::vector<Measurement> measurements;
  bool all_sane = true;
  for (const StubScenario& scenario : kStubScenarios) {
    if (std::string(scenario.name).find(only) == std::string::npos) continue;
    measurements.push_back(measure_on_stub(stub, scenario, on_stub));
    all_sane = sane(measurements.back(), true) && all_sane;
  }
  for (const NeverSeen& scenario : kNeverSeen) {
    if (std::string(scenario.name).find(only) == std::string::npos) continue;
    measurements.push_back(measure_never_seen(scenario, stub, on_stub));
    all_sane = sane(measurements.back(), true) && all_sane;
  }
  const DeviceMeasurement device = measure_on_device(on_device);
  // Drivers allocate as they like: on a device only the results are judged.
  if (device.skipped.empty()) all_sane = sane(device.measurement, false) && all_sane;
  if (json) {
    print_json(measurements, device);
  } else {
    print_table(measurements, device);
  }
  return all_sane ? 0 : 1;
}

}  // namespace
}  // namespace idletune::bench

int main(int argc, char** argv) {
  bool quick = false, json = false;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else if (std::strcmp(argv[i], "--json") == 0) {
      json = true;
    } else if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
      only = argv[++i];
    } else {
      std::fprintf(stderr, "usage: launch_cost [--quick] [--json] [--only TEXT]\n");
      return 2;
    }
  }
  return idletune::bench::ended("launch_cost",
                                [&] { return idletune::bench::run(quick, json, only); });
}
