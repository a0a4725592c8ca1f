#include "agent/host/cli/offload_samples.hpp"

#include "agent/host/cli/places.hpp"
#include "models/host/history/compression.hpp"
#include "models/host/offload/import_samples.hpp"
#include "models/host/offload/layer_profiles.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{256} << 20;

// Only those devices, in that order.
Result<offload::SampleSet> keep_devices(offload::SampleSet set,
                                        const std::vector<std::string>& devices) {
  if (devices.empty()) return set;
  std::vector<std::size_t> places;
  for (const std::string& device : devices) {
    const auto found = std::find(set.variants.begin(), set.variants.end(), device);
    if (found == set.variants.end()) {
      return Status(StatusCode::not_found,
                    "no times of '" + device + "' (there are " + listed(set.variants) + ")");
    }
    places.push_back(static_cast<std::size_t>(found - set.variants.begin()));
  }
  set.variants = devices;
  for (offload::Sample& sample : set.samples) {
    std::vector<double> times;
    for (const std::size_t place : places) times.push_back(sample.gpu_ms[place]);
    sample.gpu_ms = std::move(times);
  }
  set.samples.erase(
      std::remove_if(set.samples.begin(), set.samples.end(),
                     [](const offload::Sample& s) { return std::isnan(s.best_gpu_ms()); }),
      set.samples.end());
  return set;
}

}  // namespace

Result<std::vector<std::uint8_t>> read_bytes(const std::string& path) {
  return read_file(path, kMaxBytes);
}

Result<offload::OffloadModel> read_offload_file(const std::string& path) {
  const auto bytes = must(read_bytes(path));
  return offload::read_offload_model(bytes, path);
}

Status check_features(const std::string& path, const offload::FeatureSet& learned,
                      const offload::FeatureSet& asked) {
  if (learned == asked) return {};
  const auto text = [](const offload::FeatureSet& set) {
    return "'" + set.name + "' of version " + std::to_string(set.version);
  };
  return {StatusCode::version_mismatch,
          path + ": learned from features " + text(learned) + "; expected " + text(asked)};
}

void add_sample_options(Verb& verb, SampleFiles& files) {
  const Argument times = verb.option("--times FILE", files.times,
                                     "Times: of a network's layers; of SET's kernels on devices; "
                                     "or on a GPU, of the regions in SET");
  const Argument shapes =
      verb.option("--shapes FILE", files.shapes,
                  "Shapes of the layers in --times; SET may be a profile of such layers");
  shapes.needs(times);
  verb.option("--cpu-times FILE", files.cpu_times,
              "AutoTVM's log of a board's CPU; --times is that of its GPU")
      .needs(times)
      .excludes(shapes);
  // Times of kernels on devices: a table beside one of times.
  const auto several = [&files] {
    return !files.times.empty() && files.shapes.empty() && files.cpu_times.empty() &&
           !has_ending(files.set, ".json") && !has_ending(files.set, ".itmodel");
  };
  verb.option("--cpu", files.cpu, "Which of several devices is the CPU")
      .acts("with a SET of kernels and --times of several devices", several);
  verb.option("--variant", files.variant, "One of several GPU times, such as 'default' or 'best'");
  verb.option("--devices", files.devices, "GPUs to take, of several")
      .acts("with a SET of kernels and --times of several devices", several)
      .separated_by_commas()
      .one_at_a_time();
}

namespace {

// Layers with the features that loops like them have: SET is a profile of layers.cpp, or one packed
// with gzip.
Result<offload::SampleSet> read_profiled_layers(const SampleFiles& files, Bytes set, Bytes times,
                                                Bytes shapes) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20U;
  std::string unpacked;
  const auto text = must(gunzip(set, kMostBytes, files.set, unpacked));
  const auto profile = must(offload::parse_profile(text.text, files.set));
  const auto layers = must(offload::LayerProfiles::from(profile));
  return offload::import_layers(times, files.times, shapes, files.shapes, &layers);
}

// What the files say, all variants.
Result<offload::SampleSet> read_all_samples(const SampleFiles& files) {
  const auto bytes_of = [](const std::string& path) {
    return path.empty() ? Result<std::vector<std::uint8_t>>(std::vector<std::uint8_t>())
                        : read_bytes(path);
  };
  auto set = must(bytes_of(files.set));
  auto times = must(bytes_of(files.times));
  auto shapes = must(bytes_of(files.shapes));
  if (!files.cpu_times.empty()) {
    if (!files.set.empty())
      return Status(StatusCode::invalid_argument, "--cpu-times stands beside --times alone");
    const auto cpu_times = must(read_bytes(files.cpu_times));
    return offload::import_tuned_layers(times, files.times, cpu_times, files.cpu_times);
  }
  if (!files.shapes.empty()) {
    if (!files.set.empty()) return read_profiled_layers(files, set, times, shapes);
    return offload::import_layers(times, files.times, shapes, files.shapes);
  }
  if (files.set.empty()) {
    return Status(StatusCode::invalid_argument,
                  "name a SET, or --times and --shapes of a network's layers");
  }
  if (has_ending(files.set, ".json")) {
    if (files.times.empty())
      return Status(StatusCode::invalid_argument, files.set + ": profiles need GPU times, --times");
    const std::string_view text(reinterpret_cast<const char*>(set.data()), set.size());
    const auto profile = must(offload::parse_profile(text, files.set));
    return offload::import_profiled(profile, times, files.times);
  }
  if (files.times.empty()) return offload::import_device_mapping(set, files.set);
  auto kernels =
      offload::import_characterized_kernels(set, files.set, times, files.times, files.cpu);
  if (!kernels.ok()) return kernels.status();
  return keep_devices(std::move(*kernels), files.devices);
}

}  // namespace

Result<offload::SampleSet> read_samples(const SampleFiles& files) {
  auto set = read_all_samples(files);
  if (!set.ok() || files.variant.empty()) return set;
  const auto& variants = set->variants;
  const auto found = std::find(variants.begin(), variants.end(), files.variant);
  if (found == variants.end()) {
    return Status(StatusCode::not_found,
                  "no GPU times of '" + files.variant + "' (there are " + listed(variants) + ")");
  }
  auto one = offload::only_variant(*set, static_cast<std::size_t>(found - variants.begin()));
  if (one.samples.empty())
    return Status(StatusCode::not_found, "no sample has a time of '" + files.variant + "'");
  return one;
}

std::vector<Argument> add_learner_options(Verb& verb, LearnerArguments& arguments,
                                          const std::vector<std::string>& others) {
  std::vector<std::string> names{"published", "logarithm", "forest"};
  names.insert(names.end(), others.begin(), others.end());
  const std::vector<Argument> options{
      verb.option("--learner", arguments.method,
                  "published (stepwise regressions of time per operation), logarithm (the same of "
                  "the speed-up's logarithm), " +
                      listed(std::vector<std::string>(names.begin() + 2, names.end())))
          .one_of(names),
      verb.flag("--no-cpu-time", arguments.no_cpu_time, "The CPU's time is no feature"),
      verb.option("--models", arguments.models,
                  "Regressions of an ensemble, or trees of a forest, which has 256 at most")
          .between(1, 1000)
          .acts("with --learner forest up to 256",
                [&arguments] { return arguments.method != "forest" || arguments.models <= 256; })};
  verb.option("--seed", arguments.seed, "Of everything random");
  return options;
}

offload::SpeedupOptions speedup_options(const LearnerArguments& arguments) {
  offload::SpeedupOptions options;
  options.method = arguments.method;
  options.cpu_time = !arguments.no_cpu_time;
  options.models = static_cast<std::size_t>(arguments.models);
  options.seed = arguments.seed;
  return options;
}

}  // namespace idletune::cli
