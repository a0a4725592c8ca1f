// idletune offload decide: is this loop worth a GPU kernel?

#include "agent/host/cli/explanation_output.hpp"
#include "agent/host/cli/offload_samples.hpp"
#include "agent/host/cli/verbs.hpp"
#include "models/host/offload/decision.hpp"
#include "models/host/offload/import_samples.hpp"
#include "models/host/offload/layer_features.hpp"

namespace idletune::cli {

namespace {

struct OffloadQuestion {
  std::string model;
  std::string untuned;
  std::string profile;
  std::vector<std::string> regions;
  std::string shapes;
  std::string network;
  std::string layer;
  double batch = 1;
  double cpu_ms = 0;
  double launches = 0;
  double link_gbs = 0;
  double launch_us = 10;
  double compile_ms = 500;
  double tuning_ms = 0;
  double program_ms = 0;
};

struct RegionQuestion {
  offload::Sample sample;
  std::vector<std::vector<double>> others;  // what its features could be as well
  offload::Iterations iterations = offload::Iterations::unknown;
  double entries = 1;  // each would be a launch
  double accesses = 0;
};

Result<std::vector<RegionQuestion>> regions_of(const OffloadQuestion& arguments) {
  const auto bytes = must(read_bytes(arguments.profile));
  const auto profile = must(offload::parse_profile(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, arguments.profile));
  for (const std::string& name : arguments.regions) {
    const auto named = [&](const auto& region) { return region.name == name; };
    if (std::any_of(profile.regions.begin(), profile.regions.end(), named)) continue;
    return Status(StatusCode::not_found, "%: there is no region '%'", arguments.profile, name);
  }
  std::vector<RegionQuestion> questions;
  for (const offload::RegionProfile& region : profile.regions) {
    if (!arguments.regions.empty() && !contains(arguments.regions, region.name)) continue;
    RegionQuestion question;
    question.sample.name = region.name;
    question.sample.groups = region.groups;
    question.sample.features = region.features;
    question.sample.bytes_in = region.bytes_in;
    question.sample.bytes_out = region.bytes_out;
    question.sample.cpu_ms = region.cpu_ms.value_or(arguments.cpu_ms);
    question.iterations = region.iterations;
    question.others = region.others;
    for (const auto& [name, count] : region.counts) {
      if (name == "entries") question.entries = std::max(1.0, static_cast<double>(count));
      if (name == "accesses") question.accesses = static_cast<double>(count);
    }
    questions.push_back(std::move(question));
  }
  if (questions.empty())
    return Status(StatusCode::not_found, arguments.profile + ": has no region");
  return questions;
}

Result<std::vector<RegionQuestion>> questions_of(const OffloadQuestion& arguments) {
  if (!arguments.profile.empty()) return regions_of(arguments);
  const auto bytes = must(read_bytes(arguments.shapes));
  auto sample = must(offload::import_layer_shape(bytes, arguments.shapes, arguments.network,
                                                 arguments.layer, arguments.batch));
  RegionQuestion question{std::move(sample), {}, offload::Iterations::independent};
  question.sample.cpu_ms = arguments.cpu_ms;
  return std::vector<RegionQuestion>{std::move(question)};
}

// Of memory that both see: a map and an unmap, which a launch's overhead stands for.
double transfer_ms(const RegionQuestion& question, const OffloadQuestion& arguments) {
  const double bytes = offload::bytes_to_copy(question.sample, question.entries, question.accesses);
  const double copied = arguments.link_gbs > 0 ? bytes / (arguments.link_gbs * 1e6) : 0;
  return copied + question.entries * arguments.launch_us * 1e-3;
}

json json_of(const offload::OffloadDecision& decision, const RegionQuestion& question,
             const offload::OffloadCosts& costs, const offload::FeatureSet& features) {
  const offload::SpeedupPrediction& prediction = decision.prediction;
  const json nearest = list_of(prediction.nearest, [](const offload::Neighbour& one) {
    return IDLETUNE_FIELDS(one, name, distance);
  });
  json values = json::object();
  for (std::size_t i = 0; i < features.names.size(); ++i)
    values[features.names[i]] = question.sample.features[i];
  return {
      {"region", question.sample.name},
      {"verdict", offload::offload_verdict_name(decision.verdict)},
      {"speedup", std::exp(prediction.log_speedup)},
      {"interval",
       {finite_or_null(std::exp(prediction.interval80.low)),
        finite_or_null(std::exp(prediction.interval80.high))}},
      {"cpu_us", question.sample.cpu_ms * 1e3},
      {"kernel_us", decision.kernel_ms * 1e3},
      {"transfer_us", costs.transfer_ms * 1e3},
      {"entries", question.entries},
      {"probability", prediction.probability},
      {"regret_ms", {{"offload", decision.regret_offload_ms}, {"keep", decision.regret_keep_ms}}},
      {"break_even_launches", finite_or_null(decision.break_even_launches)},
      {"reason", decision.reason},
      {"settled_by", decision.settled_by},
      {"nearest", nearest},
      {"features", values}};
}

void print_region(const json& one, const CliContext& context) {
  context.print_paragraph(one["region"].get<std::string>() + ": " +
                          one["verdict"].get<std::string>() + ": " +
                          one["reason"].get<std::string>());
  if (!one["settled_by"].get<std::string>().empty())
    context.print_paragraph("What would settle it: " + one["settled_by"].get<std::string>());
  const auto ms = [](const json& us) { return report::significant(us.get<double>() / 1e3); };
  if (one.value("only_when_tuned", false)) {
    context.print_paragraph(
        "It pays only when tuned: with the default configuration the verdict is " +
        one["untuned"]["verdict"].get<std::string>() + ".");
  }
  TextTable table({"figure", ">value", "unit"});
  const bool known = !one["interval"][1].is_null();
  table.add_row({"speed-up of the kernel", format_number(one["speedup"], 2),
                 known ? "80 % interval " + format_number(one["interval"][0], 2) + " to " +
                             format_number(one["interval"][1], 2)
                       : "no interval: too few groups"});
  table.add_row({"CPU", ms(one["cpu_us"]), "ms"});
  table.add_row({"kernel", ms(one["kernel_us"]), "ms"});
  const double entries = one["entries"].get<double>();
  table.add_row({entries > 1
                     ? "transfers and " + report::mean_count_text(std::round(entries)) + " launches"
                     : "transfers and launch",
                 ms(one["transfer_us"]), "ms"});
  table.add_row({"probability that it pays", report::percent_text(one["probability"]), ""});
  if (!one["break_even_launches"].is_null())
    table.add_row({"break-even",
                   report::mean_count_text(std::round(one["break_even_launches"].get<double>())),
                   "launches"});
  table.add_row(
      {"expected regret of offloading", report::significant(one["regret_ms"]["offload"]), "ms"});
  table.add_row(
      {"expected regret of keeping", report::significant(one["regret_ms"]["keep"]), "ms"});
  table.add_row({"nearest sample", one["nearest"][0]["name"].get<std::string>(), ""});
  context.print(table);
}

// A model of the right features, and what was learned of its samples.
struct Learned {
  offload::OffloadModel model;
  std::unique_ptr<offload::Predictor> predictor;
};

Result<std::unique_ptr<Learned>> learned_of(const std::string& path, bool profiled) {
  auto model = must(read_offload_file(path));
  const offload::FeatureSet& features =
      profiled ? offload::profiled_features() : offload::layer_features();
  must(check_features(path, model.set.features, features));
  auto learned = std::make_unique<Learned>();
  learned->model = std::move(model);  // where the predictor will find its samples
  learned->predictor = std::make_unique<offload::Predictor>(
      must(offload::Predictor::learn(learned->model.set, learned->model.options)));
  return learned;
}

offload::OffloadCosts costs_of(const RegionQuestion& question, const OffloadQuestion& arguments,
                               bool tuned) {
  offload::OffloadCosts costs;
  costs.launches = arguments.launches;
  costs.transfer_ms = transfer_ms(question, arguments);
  costs.fixed_ms = arguments.compile_ms + (tuned ? arguments.tuning_ms : 0);
  return costs;
}

// What it would be with the default configuration, which nobody has to look for.
json untuned_json(const Learned& untuned, const RegionQuestion& question,
                  const OffloadQuestion& arguments) {
  const auto decision =
      offload::decide_offload(*untuned.predictor, question.sample, question.others,
                              question.iterations, costs_of(question, arguments, false));
  return {{"verdict", offload::offload_verdict_name(decision.verdict)},
          {"speedup", std::exp(decision.prediction.log_speedup)},
          {"kernel_us", decision.kernel_ms * 1e3},
          {"probability", decision.prediction.probability}};
}

json answer_of(const Learned& learned, const Learned* untuned, const RegionQuestion& question,
               const OffloadQuestion& arguments, double& gains) {
  const offload::OffloadCosts costs = costs_of(question, arguments, true);
  const auto decision = offload::decide_offload(*learned.predictor, question.sample,
                                                question.others, question.iterations, costs);
  const bool offloads = decision.verdict == offload::OffloadVerdict::offload;
  if (offloads) gains += question.sample.cpu_ms - decision.kernel_ms - costs.transfer_ms;
  json one = json_of(decision, question, costs, learned.model.set.features);
  one["iterations"] = offload::iterations_name(question.iterations);
  if (untuned == nullptr) return one;
  one["untuned"] = untuned_json(*untuned, question, arguments);
  one["only_when_tuned"] = offloads && one["untuned"]["verdict"] != one["verdict"];
  return one;
}

void run_offload_decide(const OffloadQuestion& arguments, CliContext& context) {
  if (arguments.profile.empty() == arguments.shapes.empty())
    return context.used_wrongly("name either --profile or --shapes with --network and --layer");
  const bool profiled = !arguments.profile.empty();
  const auto learned = must(learned_of(arguments.model, profiled));
  std::unique_ptr<Learned> untuned;
  if (!arguments.untuned.empty()) untuned = must(learned_of(arguments.untuned, profiled));
  const auto questions = must(questions_of(arguments));
  json list = json::array();
  double gains = 0;
  for (const RegionQuestion& question : questions) {
    if (!offload::is_time_ms(question.sample.cpu_ms)) {
      return context.fail(Status(StatusCode::invalid_argument,
                                 question.sample.name + ": no time on the CPU; say --cpu-ms"));
    }
    list.push_back(answer_of(*learned, untuned.get(), question, arguments, gains));
  }
  json answer = list[0];
  answer["device"] = learned->model.set.device;
  answer["regions"] = list;
  if (arguments.program_ms > 0)
    answer["program_speedup"] = offload::program_speedup(arguments.program_ms, gains);
  if (context.json()) return context.print_json(answer);
  for (const auto& one : list) print_region(one, context);
  if (answer.contains("program_speedup"))
    context.print_paragraph("The whole program: " + format_number(answer["program_speedup"], 2) +
                            " times as fast.");
}

}  // namespace

void add_offload_decide_verb(Verb& offload, CliContext& context) {
  auto arguments = std::make_shared<OffloadQuestion>();
  Verb verb = offload.add_verb("decide", "tells whether a loop is worth a GPU kernel, and why");
  verb.required("model", arguments->model, "Model that offload learn made");
  verb.option("--untuned FILE", arguments->untuned,
              "Model of default configurations: tells whether it pays only when tuned");
  const Argument profile =
      verb.option("--profile FILE", arguments->profile, "Profiles that offload profile made");
  verb.option("--region", arguments->regions, "Region of the profile; all without it")
      .needs(profile)
      .one_at_a_time();
  const Argument shapes = verb.option("--shapes FILE", arguments->shapes,
                                      "Shapes of networks' layers, instead of a profile")
                              .excludes(profile);
  const Argument network =
      verb.option("--network", arguments->network, "Network in --shapes").needs(shapes);
  shapes.needs(network);
  shapes.needs(verb.option("--layer", arguments->layer, "Layer of that network").needs(shapes));
  verb.option("--batch", arguments->batch, "Images at once").needs(shapes).between(1.0, 1e6);
  verb.option("--cpu-ms N[ms]", arguments->cpu_ms, "Time on the CPU, where the profile has none")
      .between(0.0, 1e6);
  verb.required("--launches", arguments->launches, "How often what was profiled will be done")
      .between(1.0, 1e15);
  verb.option("--link-gbs", arguments->link_gbs,
              "GB/s between CPU and GPU; 0: they share memory, nothing is copied")
      .between(0.0, 1e4)
      .shows_default();
  verb.option("--launch-us N[us]", arguments->launch_us,
              "A launch, with mapping shared memory; each entry of a region is one")
      .between(0.0, 1e6);
  verb.option("--compile-ms N[ms]", arguments->compile_ms, "Compiling the kernel, once")
      .between(0.0, 1e9);
  verb.option("--tuning-ms N[ms]", arguments->tuning_ms, "Tuning it, once")
      .between(0.0, 1e9)
      .shows_default();
  verb.option("--program-ms N[ms]", arguments->program_ms,
              "Time of the whole program on the CPU: tells its speed-up, too")
      .between(0.0, 1e12);
  verb.example("offload decide board.itmodel --profile p.json --launches 1000");
  verb.runs([arguments, &context] { run_offload_decide(*arguments, context); });
}

}  // namespace idletune::cli
