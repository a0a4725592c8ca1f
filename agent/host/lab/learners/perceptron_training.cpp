#include "agent/host/lab/learners/perceptron_training.hpp"

// FANN's header defines its number type: double here.
#include <doublefann.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "agent/host/lab/learners/input_scaling.hpp"
#include "models/core/random.hpp"

namespace idletune::learners {
namespace {

constexpr std::size_t kLeastRowsToKeepAside = 20;

struct FreeNetwork {
  void operator()(fann* network) const { fann_destroy(network); }
};
struct FreeExamples {
  void operator()(fann_train_data* examples) const { fann_destroy_train(examples); }
};
using Network = std::unique_ptr<fann, FreeNetwork>;
using Examples = std::unique_ptr<fann_train_data, FreeExamples>;

Status wrong(const std::string& what) {
  return Status(StatusCode::invalid_argument, "perceptron: " + what);
}
Status no_memory() {
  return Status(StatusCode::out_of_memory, "perceptron: FANN could not allocate it");
}

Status check(const PerceptronOptions& options, const Dataset& data) {
  if (options.hidden.empty() || options.hidden.size() >= kMaxLayers) {
    return wrong("expected 1 to " + std::to_string(kMaxLayers - 1) + " hidden layers");
  }
  for (const std::uint32_t width : options.hidden) {
    if (width == 0 || width > kMaxLayerWidth) {
      return wrong("expected hidden layers of 1 to " + std::to_string(kMaxLayerWidth) + " neurons");
    }
  }
  if (options.members == 0 || (options.members > 1 && options.hidden.size() != 1)) {
    return wrong("expected at least one member, and one hidden layer if there are several");
  }
  if (options.members * options.hidden[0] > kMaxLayerWidth) {
    return wrong("expected members that have together at most " + std::to_string(kMaxLayerWidth) +
                 " neurons");
  }
  if (options.max_epochs == 0) return wrong("expected at least one epoch");
  if (!(options.validation_share >= 0 && options.validation_share < 1)) {
    return wrong("expected a validation_share in [0, 1)");
  }
  if (data.classes > kMaxLayerWidth) {
    return wrong(std::to_string(data.classes) + " classes; expected at most " +
                 std::to_string(kMaxLayerWidth));
  }
  return {};
}

// Training of one member: what it is to become, and FANN's side of it.
class Training {
 public:
  Training(const Dataset& data, const PerceptronOptions& options, std::vector<InputColumn> columns,
           std::uint64_t seed)
      : data_(data), options_(options), random_(seed) {
    perceptron_.columns = std::move(columns);
    perceptron_.classes = data.classes;
    perceptron_.layers = options.hidden;
    perceptron_.layers.push_back(outputs());
    if (!data.is_classification()) {
      const TargetScale scale = target_scale(data);
      perceptron_.offset = static_cast<float>(scale.mean);
      perceptron_.factor = static_cast<float>(scale.deviation);
    }
  }

  Result<Perceptron> run() {
    if (!make_network() || !make_examples()) return no_memory();
    draw_first_weights();
    const std::vector<double> best =
        validation_ != nullptr ? train_until_it_overfits() : train_to_the_end();
    perceptron_.weights.assign(best.begin(), best.end());
    return std::move(perceptron_);
  }

 private:
  std::uint32_t inputs() const {
    return static_cast<std::uint32_t>(input_width(perceptron_.columns));
  }
  std::uint32_t outputs() const { return data_.is_classification() ? data_.classes : 1; }

  bool make_network() {
    std::vector<unsigned> widths{inputs()};
    widths.insert(widths.end(), perceptron_.layers.begin(), perceptron_.layers.end());
    network_.reset(fann_create_standard_array(static_cast<unsigned>(widths.size()), widths.data()));
    if (network_ == nullptr) return false;
    // FANN would print its complaints.
    fann_set_error_log(reinterpret_cast<struct ::fann_error*>(network_.get()), nullptr);
    fann_set_training_algorithm(network_.get(), FANN_TRAIN_RPROP);
    fann_set_train_error_function(network_.get(), FANN_ERRORFUNC_LINEAR);
    fann_set_activation_function_hidden(network_.get(), FANN_SIGMOID_SYMMETRIC);  // tanh
    fann_set_activation_function_output(network_.get(), FANN_LINEAR);
    fann_set_activation_steepness_hidden(network_.get(), 1);
    fann_set_activation_steepness_output(network_.get(), 1);
    return true;
  }

  bool make_examples() {
    std::vector<std::size_t> rows(data_.rows());
    for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = r;
    std::size_t kept = 0;
    if (rows.size() >= kLeastRowsToKeepAside) {
      kept = static_cast<std::size_t>(options_.validation_share * static_cast<double>(rows.size()));
      for (std::size_t i = 0; i < kept; ++i) {
        std::swap(rows[i], rows[i + static_cast<std::size_t>(random_.below(rows.size() - i))]);
      }
    }
    training_ = examples_of({rows.data() + kept, rows.size() - kept});
    if (kept > 0) validation_ = examples_of({rows.data(), kept});
    return training_ != nullptr && (kept == 0 || validation_ != nullptr);
  }

  Examples examples_of(Span<const std::size_t> rows) const {
    Examples examples(fann_create_train(static_cast<unsigned>(rows.size()), inputs(), outputs()));
    if (examples == nullptr) return nullptr;
    std::vector<float> coded(inputs());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      code_inputs(perceptron_.columns, data_.row(rows[i]), coded.data());
      std::copy(coded.begin(), coded.end(), examples->input[i]);
      const double target = static_cast<double>(data_.targets[rows[i]]);
      for (std::uint32_t o = 0; o < outputs(); ++o) {
        examples->output[i][o] = data_.is_classification()
                                     ? (target == o ? 1.0 : 0.0)
                                     : (target - static_cast<double>(perceptron_.offset)) /
                                           static_cast<double>(perceptron_.factor);
      }
    }
    return examples;
  }

  // FANN keeps weights as Perceptron does: neuron by neuron, the bias last.
  void draw_first_weights() {
    std::size_t before = inputs();
    double* weight = network_->weights;
    for (const std::uint32_t width : perceptron_.layers) {
      const double reach = std::sqrt(6.0 / static_cast<double>(before + width));
      for (std::uint32_t n = 0; n < width; ++n) {
        for (std::size_t i = 0; i < before; ++i) *weight++ = reach * (2 * random_.uniform() - 1);
        *weight++ = 0;
      }
      before = width;
    }
  }

  std::vector<double> weights() const {
    return {network_->weights, network_->weights + network_->total_connections};
  }

  std::vector<double> train_to_the_end() {
    for (std::size_t e = 0; e < options_.max_epochs; ++e)
      fann_train_epoch(network_.get(), training_.get());
    return weights();
  }

  std::vector<double> train_until_it_overfits() {
    std::vector<double> best = weights();
    double least = std::numeric_limits<double>::infinity();
    std::size_t since = 0;
    for (std::size_t e = 0; e < options_.max_epochs && since < options_.patience; ++e, ++since) {
      fann_train_epoch(network_.get(), training_.get());
      const double error = validation_error();
      if (error < least) {
        least = error;
        best = weights();
        since = 0;
      }
    }
    return best;
  }

  double validation_error() const {
    double sum = 0;
    for (unsigned i = 0; i < validation_->num_data; ++i) {
      const double* said = fann_run(network_.get(), validation_->input[i]);
      for (std::uint32_t o = 0; o < outputs(); ++o) {
        sum += (said[o] - validation_->output[i][o]) * (said[o] - validation_->output[i][o]);
      }
    }
    return sum;
  }

  const Dataset& data_;
  const PerceptronOptions& options_;
  Random random_;
  Perceptron perceptron_;
  Network network_;
  Examples training_;
  Examples validation_;
};

// The average of perceptrons with one hidden layer: their hidden neurons side by side, their
// outputs' weights divided by their number.
Perceptron average_of(const std::vector<Perceptron>& members) {
  Perceptron average = members[0];
  const std::size_t inputs = input_width(average.columns);
  const std::size_t hidden = average.layers[0];
  const std::size_t outputs = average.layers[1];
  const std::size_t first_output = hidden * (inputs + 1);
  const float part = 1.0f / static_cast<float>(members.size());
  average.layers[0] = static_cast<std::uint32_t>(hidden * members.size());
  average.weights.clear();
  for (const Perceptron& member : members) {
    average.weights.insert(average.weights.end(), member.weights.begin(),
                           member.weights.begin() + static_cast<std::ptrdiff_t>(first_output));
  }
  for (std::size_t o = 0; o < outputs; ++o) {
    float bias = 0;
    for (const Perceptron& member : members) {
      const float* weights = member.weights.data() + first_output + o * (hidden + 1);
      for (std::size_t h = 0; h < hidden; ++h) average.weights.push_back(weights[h] * part);
      bias += weights[hidden] * part;
    }
    average.weights.push_back(bias);
  }
  return average;
}

Result<Perceptron> train_members(const Dataset& data, const PerceptronOptions& options,
                                 const std::vector<InputColumn>& columns) {
  Random seeds(options.seed);
  std::vector<Perceptron> members;
  for (std::size_t i = 0; i < options.members; ++i) {
    auto member = Training(data, options, columns, seeds.next()).run();
    if (!member.ok()) return member;
    members.push_back(std::move(*member));
  }
  return members.size() == 1 ? std::move(members[0]) : average_of(members);
}

}  // namespace

Result<Perceptron> train_perceptron(const Dataset& data, const PerceptronOptions& options) {
  if (Status sound = learners::check(data); !sound.ok()) return sound;
  if (Status sound = check(options, data); !sound.ok()) return sound;
  auto columns = input_columns(data, true);
  if (!columns.ok()) return columns.status();
  auto perceptron = train_members(data, options, *columns);
  if (!perceptron.ok()) return perceptron;
  // What it learned must be readable everywhere; training that diverged ends here.
  if (Status sound = verify(perceptron->view()); !sound.ok()) return wrong(sound.message());
  return perceptron;
}

Status PerceptronLearner::fit(const Dataset& data) {
  auto perceptron = train_perceptron(data, options_);
  if (!perceptron.ok()) return perceptron.status();
  perceptron_ = std::move(*perceptron);
  return {};
}

Prediction PerceptronLearner::predict(Span<const float> row) const {
  if (perceptron_.columns.empty() || row.size() != perceptron_.columns.size()) return {};
  return {perceptron_.view().predict(row), 0};
}

}  // namespace idletune::learners
