// What an application may set. Every field has a default that is safe to ship.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <idletune/aims.hpp>
#include <idletune/result.hpp>

namespace idletune {

enum class Mode : std::uint8_t {
  off = 0,     // always the kernel's default; nothing is read or written
  cached = 1,  // what was adopted earlier on this device; no new tuning
  tune = 2     // everything
};

// Levels: 1 errors, 2 decisions, 3 every stage. The function must not call the agent. The library
// never prints by itself.
using LogFunction = void (*)(void* user, int level, const char* message);

inline constexpr char kNoModel[] = "-";

class EventSink;
class FileTrust;
class ModelSlots;
class SearchLearner;
class TrialsInProcess;

// Agent::open refuses values outside the ranges given here.
struct AgentOptions {
  // --- files: paths are meant from where the application is when it opens the agent ---
  // Path of an .itmodel. Empty: the one that ships with the kernels (`idletune.itmodel` beside the
  // program, then in the install prefix's share/idletune), if it is there. kNoModel: none.
  std::string model;
  // What keeps and tries models that are pushed (<idletune/slots.hpp>). Null: the program's own
  // model is the only one that outlives the process.
  const ModelSlots* slots = nullptr;
  // How often idle() and background tuning look whether the model's file was replaced, and with
  // slots, whether one was pushed. A look is one stat, or the listing of a folder; taking over a new
  // model may once make a call some milliseconds longer than its budget, and with slots as much as
  // the medium takes: prefer background tuning there. 0: they never look, only Agent::reload_model
  // takes over. Launches never look.
  std::chrono::nanoseconds model_check_interval{0};
  // Whom models and kernel packages that are read from files must come from (<idletune/trust.hpp>);
  // outlives the agent. What is refused is as if it could not be read. Packages that an application
  // hands over in memory are its own affair. Null: all that is intact is believed.
  const FileTrust* trust = nullptr;
  // Folder of the journal, of compiled programs and of captured arguments. Only its owner may read
  // what is in it; the folder itself, if the agent made it or if it holds nothing else. Empty:
  // everything stays in memory, and what was measured is lost at the end.
  std::string state;
  Mode mode = Mode::tune;
  // What tries configurations in this process (<idletune/in_process.hpp>), which promises less.
  // Null: the program idletune-helper does. A crash, an abort or a hung driver costs that program
  // and never the application.
  const TrialsInProcess* in_process = nullptr;
  // Path of idletune-helper. Empty: beside the executable, then in the install prefix.
  std::string helper;
  // Look for it in the folders of PATH as well, where `helper` is empty. Whoever sets PATH then
  // chooses what is started; not in privileged programs.
  bool helper_in_path = false;
  // Text file of further known-bad patterns (agent/trial/README.md). Empty: only the library's own.
  std::string quirks;
  std::string sysfs_root = "/sys";  // where the board's sensors are

  // --- limits ---
  // Device time that trials may take in this process, all together. 0: no limit.
  std::chrono::nanoseconds max_tuning{0};
  // Of one run of a candidate; more than 0, at most a day (more counts as that). A longer one
  // counts as hung: the configuration is quarantined. Shorter ends a hang sooner; too short
  // quarantines what is only slow. A first launch, in which drivers generate code, has ten times as
  // long and 5 s more.
  std::chrono::nanoseconds run_deadline{std::chrono::seconds(2)};

  // --- what tuning may cost, and when it pays (agent/scheduler/README.md) ---
  // What a second of idle device time is charged, in seconds of the application; 0 to 1000. Higher
  // tunes less. Towards 1 where energy is what counts.
  double idle_cost = 0.02;
  // The same for a second of compilation at low priority; 0 to 1000.
  double compile_cost = 0.01;
  // Share of one processor's time that compilations of candidates may have in idle time, two
  // seconds at once at most; 0 to 1. 1: what the other limits leave. Lower saves energy where the
  // processors have nothing else to do, and tunes later.
  double max_compile_share = 1.0;
  // Charged tuning time never exceeds this share of the application's kernel time plus what tuning
  // has saved; 0 to 1. Higher gains more from long tuning and risks more.
  double overhead_limit = 0.02;
  // A configuration is adopted only if it is faster by this share; 0 to 0.9.
  double adoption_margin = kAdoptionMargin;
  // r: configurations with at least this relative performance count as well-performing; 0.01 to 1.
  double well_performing_ratio = kWellPerforming;
  // p_s: the chance to have found one after `expected_steps`; 0.01 to 0.9999.
  double wanted_probability = kWantedProbability;
  // Launches still to come per launch seen so far, where the application has not said how many
  // (TunedKernel::expect_launches); 0 to 1e9.
  double unknown_horizon = 1.0;

  // --- memory ---
  // Device memory of the tuner, beside the application's. Shapes whose buffers need more are not
  // tuned. As much again, for each kernel, may be taken by what the launch steps of its variants
  // hand on to each other; a configuration that needs more is not adopted.
  std::size_t scratch_limit_bytes = std::size_t{256} << 20;
  // What TunedKernel::capture copies of one problem at most.
  std::size_t capture_limit_bytes = std::size_t{64} << 20;
  // Shapes of one kernel that are kept and tuned at once; 1 to 4096. Further ones run what was
  // checked for their class, else the default, until one that is not launched any more makes room:
  // after some seconds, or minutes where launches were said to come. Each costs some kilobytes.
  std::size_t max_shapes = 64;

  // --- searching ---
  // What learns from measurements (<idletune/learning.hpp>). Null: the model's portfolio and
  // uniform draws are tried, and the program is smaller.
  const SearchLearner* learner = nullptr;
  // Of the uniform draws. 0: boards of one kind draw different configurations, each beginning at
  // its own place of one common order, so that together they see more. The place comes from a
  // digest of the board's serial number or /etc/machine-id, which is kept nowhere. Another number:
  // the same draws on every board.
  std::uint64_t seed = 0;

  // --- surroundings ---
  bool read_environment = true;  // the README's table of IDLETUNE_* variables overrides fields
  LogFunction log = nullptr;     // called on whatever thread has something to say; null: silence
  void* log_user = nullptr;      // handed to `log`; stays the application's
  int log_level = 1;             // the highest level that is logged; 0: nothing
  // To whom is told what happens (<idletune/events.hpp>); outlives the agent. Null: to nobody.
  EventSink* events = nullptr;
};

// Gaps are those between launches of all kernels, whatever their devices, which share memory and
// power.
struct BackgroundOptions {
  // Share of wall-clock time in which a stage may use the device; 0 to 1. Compiling uses none.
  double max_duty = 0.2;
  // Nothing runs below this state of charge (0 to 1), unless on mains or without a battery.
  double min_battery = 0.3;
  // Nothing runs above this load of the GPU (0 to 1), where a sensor tells it.
  double max_load = 0.8;
  // Nothing runs nearer than this to a passive trip point, in kelvin.
  double thermal_margin_c = 5.0;
  // Longest part of a gap that is used at once. Longer fits more stages; shorter is out of the way
  // sooner when a launch comes early.
  std::chrono::nanoseconds max_gap{std::chrono::milliseconds(50)};
};

// Lets the application's own launches time configurations that have passed the check. Nothing is
// copied; only events are added.
struct InPlaceOptions {
  bool allowed = false;
  double max_slowdown = 0.05;  // share by which the application's kernel time may grow meanwhile
};

// Lets IDLETUNE_MODE, _STATE, _MODEL, _VERBOSE, _MAX_TUNING_MS and _HELPER override the fields. But
// for PATH (helper_in_path) no other code of the library reads the environment, and in a privileged
// program (set-user-id, file capabilities) nothing does. Error: invalid_argument that names the
// variable and what it takes.
Status apply_environment(AgentOptions& options);

// IDLETUNE_OPENCL_LIBRARY, IDLETUNE_CUDA_LIBRARY, IDLETUNE_NVRTC_LIBRARY; empty when not set.
std::string environment_opencl_library();
std::string environment_cuda_library();
std::string environment_nvrtc_library();

}  // namespace idletune
