// The agent: launches tuned kernels, and tunes them while the application has nothing better to do.
//
//   idletune::AgentOptions options;
//   options.state = "/data/idletune";
//   auto agent = idletune::Agent::open(options);
//   auto gemm = agent->kernel(*device, "gemm.itkernel");
//   gemm->launch({M, N, K}, {a, b, c, alpha, beta});
//   agent->idle(8ms);
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/device.hpp>
#include <idletune/options.hpp>
#include <idletune/result.hpp>
#include <idletune/slots.hpp>
#include <idletune/verdict.hpp>

struct idletune_kernel;  // <idletune/idletune.h>

namespace idletune {

// How good the answer to "which configuration runs for this shape?" is.
enum class Selection : std::uint8_t {
  fallback = 0,    // the kernel's shape-generic default
  first_pick = 1,  // the model's pick, checked on this device
  tuned = 2,       // found by search here (this run or an earlier one), checked on this device
  shape_class = 3  // another shape's, checked for the class of shapes that this one belongs to
};
const char* selection_name(Selection selection);

// The decision for one kernel and shape with the figures it rests on.
struct Explanation {
  std::string kernel;
  Shape shape;
  std::string problem;  // by name, with computed features: "M=64 N=64 mean_row=12.5"
  Selection selection = Selection::fallback;
  Configuration running;     // what launch() uses now
  std::string running_text;  // "MWG=64 NWG=32 ..."
  // What the model's first pick rests on: "exact", "selector", "nearest_shape", "published",
  // "other_device", "other_kind" (processors, for a GPU, or the other way round); "structure": on
  // nothing, the first trials on a GPU are configurations that fill its warps; empty: there is
  // none.
  std::string first_pick_quality;
  // Why the model says nothing of the kernel though it has one of that name: the names of the
  // problems that it was learned from, and of the kernel's. Empty: it does, or there is none.
  std::string model_refused;
  Verdict verdict = Verdict::wait;
  std::string reason;  // one sentence
  // What the next step waits for, as of the last call that looked, and a sentence with figures that
  // says what would change it; empty where nothing is in the way.
  Blocker blocker = Blocker::none;
  std::string advice;
  std::string trying;            // the configuration whose trial is under way; empty: none
  bool captured = false;         // it is tuned on what the application lent (capture())
  double default_ms = 0;         // measured; 0 while unknown
  double first_pick_ms = 0;      // measured; 0 while unknown
  double running_ms = 0;         // measured; 0 while unknown
  double speed_up = 1;           // default / running
  double expected_launches = 0;  // still to come
  double expected_steps = 0;     // n of formula 2
  double cost_ms = 0;            // of the search still to do, as charged
  double gain_ms = 0;            // expected from it
  double break_even_launches = 0;
  // Of a configuration that prepares something once: what that takes, and from how many launches on
  // it pays. As long as it has not (`setups` is 0) the default runs.
  double setup_ms = 0;
  double setup_break_even_launches = 0;
  std::uint32_t setups = 0;     // that launches made, in this process
  double tuning_ms = 0;         // spent so far, wall clock
  double charged_ms = 0;        // of that, as charged to the ledger
  std::uint64_t launches = 0;   // in this process
  std::uint64_t evaluated = 0;  // configurations measured on this device, ever
  std::uint64_t rejected = 0;   // failed in any way
  std::uint64_t quarantined = 0;
  // "fine", "recheck", "unavailable", ... Unavailable is a queue without profiling: nobody knows
  // how long its launches take. What counts as saved there is by how much a launch was faster than
  // the default in three quarters of the runs that the tuner made of both, side by side on a queue
  // of its own, before it adopted and every five minutes since; kernel time and savings together
  // never exceed the time that passed. What is slower in such a comparison is demoted.
  std::string production_watch;

  // What the verdict rests on.
  double fraction = 0;  // p_b: share of the tuning space within 90 % of the best, as believed now
  double fraction_low = 0;  // 80 % interval of it
  double fraction_high = 0;
  std::string fraction_origin;  // "prior" (no model), "model", "measured"
  double best_estimate_ms = 0;  // of the best configuration on this device
  double step_ms = 0;           // what one more step is expected to be charged
  bool launches_said = false;   // expected_launches: said by the application, or estimated
  // How much this device resembles those of the model; what is missing to 1: none of them.
  struct Resemblance {
    std::string device;
    double weight = 0;
  };
  std::vector<Resemblance> resembles;
};

// What one call of idle() did.
struct IdleReport {
  std::chrono::nanoseconds used{0};
  std::uint32_t stages = 0;           // stages that ended in this call
  std::uint32_t steps = 0;            // configurations decided in this call
  bool waiting = false;               // a stage (a compilation) runs on in the background
  std::chrono::nanoseconds needs{0};  // the gap the next stage would need; 0: nothing to do
  const char* why = "";               // why nothing (more) was started; static text
};

struct AgentStatus {
  Status storage;  // ok, or why the agent keeps everything in memory
  Status journal;  // ok, or what of the journal could not be read when the agent was opened
  std::uint64_t journal_dropped_bytes = 0;  // of its end, torn as the last process or board died
  // What the last process was trying when it died: retried last, or never tried again.
  std::uint32_t new_suspects = 0;
  std::uint32_t new_quarantines = 0;
  Status model;                        // ok, or what was wrong with the model file read last
  std::uint64_t model_generation = 0;  // of the model in use
  std::uint64_t model_digest = 0;      // of its content; 0: none is in use
  ModelStanding model_standing;
  Status trials;               // ok, or why no trial can be run
  bool tuning_enabled = true;  // false: mode, or tuning has ended on every device
  // Why nothing is tried just now, as in Explanation: of the shape whose next step is worth most,
  // or what holds all of background tuning back.
  Blocker blocker = Blocker::none;
  std::string advice;
  // On which tuning has ended for this process, because they were lost or trials on them crashed or
  // hung; explain() says why, kernel by kernel. Other devices are tuned on.
  std::uint32_t ended_devices = 0;
  // Of them, those that work no more: the device says so, or the default failed on it in a new
  // helper. No configuration is blamed for that.
  std::uint32_t lost_devices = 0;
  double kernel_seconds = 0;  // of the application, as known
  double tuning_seconds = 0;  // wall clock of all stages
  double charged_seconds =
      0;                     // as charged to the ledger (promise: <= 2 % of kernel time + savings)
  double saved_seconds = 0;  // lower bound
  // Processor time in this process's life: of the helper, and of compiling for launches.
  double helper_processor_seconds = 0;
  double build_processor_seconds = 0;
  std::uint64_t quarantined = 0;
  std::uint64_t unslotted_launches = 0;  // of shapes beyond max_shapes
  std::uint64_t class_launches = 0;      // of those, with a variant checked for the shape's class
};

namespace detail {
class AgentState;
class KernelState;
}  // namespace detail

struct CallDescription;  // <idletune/calls.hpp>
class TunedCalls;
class Notes;  // <idletune/notes.hpp>

// A kernel whose launches the agent tunes. A light handle; valid as long as its Agent. launch() may
// be called from any number of threads; at most four of them proceed at the very same time, further
// ones wait for each other's enqueue, never for tuning.
class TunedKernel {
 public:
  // Enqueues the kernel on the adopted queue. `arguments` are the application's, in the order of
  // the package, without those that the package derives from the shape. Scalars have the type that
  // the package says (integers of the same size may stand for each other); whether buffers are ones
  // and large enough is asked for once per shape and configuration. Never compiles, allocates,
  // reads a file or waits for tuning. A queue may go once the launch has returned. Into a CUDA
  // graph only what hands nothing on in memory of ours is launched, else the default; `busy` where
  // that does so, too. Such a graph must not outlive the device. Where the package declares
  // features that the application gives, they stand behind the dimensions: Problem({rows, entries},
  // {12.5}). Where a dimension of 0 leaves no work nothing is enqueued, and options.event stays as
  // it was. Errors: invalid_argument (shape, features, arguments), unsupported (the kernel cannot
  // have this shape), out_of_memory (for what the default's steps hand on), busy, device_error.
  Status launch(const Shape& shape, std::initializer_list<Argument> arguments) {
    return launch(LaunchOptions{}, shape,
                  Span<const Argument>(arguments.begin(), arguments.size()));
  }
  template <class... Arguments>
  Status launch(const Shape& shape, Arguments... arguments) {
    const Argument list[] = {Argument(arguments)...};
    return launch(LaunchOptions{}, shape, Span<const Argument>(list, sizeof...(Arguments)));
  }
  Status launch(const LaunchOptions& options, const Shape& shape, Span<const Argument> arguments);

  // Makes the shape ready before its first launch: builds, checks and publishes the configuration
  // that was adopted earlier, or the model's first pick. What will run is then launched once on
  // buffers of the tuner's, if trials ran it here, in this session or an earlier one, and
  // scratch_limit_bytes allows it: many drivers generate code at the first launch, and without
  // that it is the application's first frame that waits. Agent::kernel() has done so already for
  // shapes that the journal knows. Blocks; seconds where nothing is compiled or measured yet.
  // Errors: invalid_argument, unsupported, out_of_memory: as launch(); out_of_memory also where
  // max_shapes is reached, beyond which launches work all the same.
  Status prepare(const Shape& shape);
  // Says how many launches of this shape are still to come. Waits for nothing; counts from the
  // tuner's next look on.
  void expect_launches(const Shape& shape, double launches);
  // Says that what buffers hold which the package calls constant is no longer what it was at the
  // last launch of this shape: where the configuration that runs has prepared something of them, it
  // is prepared again. Another handle is noticed without being told; but not a buffer that was
  // freed and another one that came by the same handle. Before the launch that finds the new
  // contents, on any thread; waits for nothing.
  void constants_changed(const Shape& shape);
  // Lends what the package's captured buffers hold, for tuning this problem on real data: copies
  // them to the state folder, where tuning in this and later processes finds them. `arguments` as
  // for launch(); only buffers that the package calls captured are read, behind everything that is
  // enqueued on the adopted queue, and none is written. Blocks until they are copied, which is
  // charged like all tuning. What was measured of the problem on other data counts as of another
  // driver. The same data once more change nothing. Nothing leaves the state folder. Any thread.
  // Errors: those of launch(); invalid_argument (no captured buffer; an index out of range, by
  // buffer and element); out_of_memory (above capture_limit_bytes, or max_shapes reached);
  // unsupported (without a state folder, in another mode than `tune`); AgentStatus::storage (the
  // folder is not this process's); busy (the stream is being captured); those of writing.
  Status capture(const Shape& shape, Span<const Argument> arguments);
  template <class... Arguments>
  Status capture(const Shape& shape, Arguments... arguments) {
    const Argument list[] = {Argument(arguments)...};
    return capture(shape, Span<const Argument>(list, sizeof...(Arguments)));
  }
  void allow_in_place(const InPlaceOptions& options);

  Result<Explanation> explain(const Shape& shape) const;
  std::vector<Shape> shapes() const;  // those that have a slot now
  const std::string& name() const;

 private:
  friend class Agent;
  friend struct ::idletune_kernel;
  TunedKernel(detail::AgentState* agent, detail::KernelState* kernel)
      : agent_(agent), kernel_(kernel) {}
  detail::AgentState* agent_;    // of the Agent that made it
  detail::KernelState* kernel_;  // likewise
};

class Agent {
 public:
  // Reads the model and the journal. A missing or broken model, an unwritable state folder or a
  // missing helper are no failures: status() tells at once, and the application runs all the same.
  // Errors: invalid_argument for options (or environment variables) out of range.
  static Result<Agent> open(const AgentOptions& options);
  Agent(Agent&&) noexcept;
  Agent& operator=(Agent&&) noexcept;
  ~Agent();  // stops background tuning, marks a clean shutdown; waits for at most one stage

  // Loads a package and builds its default variant and what was adopted earlier for up to 16 shapes
  // (blocking: this is start-up). What will run is launched once on buffers of the tuner's, so that
  // no first frame waits for the driver's code: on the shapes that the journal knows, for a quarter
  // of a second and one launch at most. Where it knows none, and in mode `off`, that is the default
  // on a small shape; but not if the application passes integers, since addresses may be among
  // them: then the first launch is the application's, or that of prepare(). `device` must
  // outlive the agent (declare it first), and from now on belongs to it: while idle() may run or
  // background tuning is on, the application calls OpenCL with its own handles, not functions of
  // `device`. Errors: not_found, corrupt, compile_error, device_error.
  Result<TunedKernel> kernel(Device& device, const std::string& package_path);
  Result<TunedKernel> kernel(Device& device, std::vector<std::uint8_t> package);

  // Tunes for at most `budget`, now, on the calling thread. Starts nothing that is not expected to
  // fit, and returns early where nothing of its own is left to do: also while a compilation goes on
  // elsewhere that will hardly end in time. Any thread; while one tunes, a second caller returns at
  // once.
  IdleReport idle(std::chrono::nanoseconds budget);
  // The same on time that the user grants here and now (a maintenance tool, a first start). Only
  // the budget and max_tuning limit it, neither the ledger nor the decision does, and nothing is
  // charged.
  IdleReport tune_now(std::chrono::nanoseconds budget);
  // Finds idle gaps by itself: from the launches it sees and from the board's sensors.
  // Any thread. In another mode than `tune` nothing is started, which is no failure. Errors: busy
  // when it runs already.
  Status start_background(const BackgroundOptions& options = {});
  // Returns when the background thread is gone. Any thread, but not from within `log`.
  void stop_background();

  // Takes over the model in the file. Empty path: the one that open() took, or was told to.
  // The file is read and verified on the calling thread while everything else goes on; then this
  // waits until nobody tunes. Launches never wait. What was measured is kept: when the tuner comes
  // by next, each shape's search starts anew from the new model and from those measurements.
  // A refused file changes nothing; the old model stays, and status() says why. A file with the
  // content in use is accepted without effect. The model before is kept for reject_model(). With
  // AgentOptions::slots the file is copied and its model is on trial, also at the next starts;
  // without, all this is of this process alone.
  // Any thread. Errors: those of reading; corrupt; untrusted (AgentOptions::trust, or refuted);
  // version_mismatch (a newer format, or a lower generation than is allowed); invalid_argument (no
  // path); unsupported (mode off; with slots: no state folder of this process alone).
  Status reload_model(const std::string& path = std::string());
  // The model on trial stays: the application's own health check says so. Any thread. Errors:
  // not_found (none is on trial); those of writing; unsupported (mode off).
  Status confirm_model();
  // Goes back to the model before, now; with AgentOptions::slots also at the next starts, and the
  // model, on trial or confirmed, is refused for good. `why` stands in status(). Any thread. Errors:
  // not_found (there is no model, or without slots none before it); those of writing; unsupported
  // (mode off).
  Status reject_model(const std::string& why);

  AgentStatus status() const;
  // Everything explain() knows about every kernel and shape, as one JSON object.
  std::string explain() const;
  // Writes what is still in memory to the journal (also done on destruction).
  Status flush();

 private:
  friend class detail::AgentState;
  friend Result<TunedCalls> open_calls(Agent& agent, const CallDescription& description);
  friend std::unique_ptr<Notes> open_notes(Agent& agent);
  explicit Agent(std::unique_ptr<detail::AgentState> state);
  std::unique_ptr<detail::AgentState> state_;
};

}  // namespace idletune
