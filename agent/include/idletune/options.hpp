// What an application may set. Every field has a default that is safe to ship.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <idletune/result.hpp>

namespace idletune {

enum class Mode : std::uint8_t {
  off = 0,     // always the kernel's default; nothing is read or written
  cached = 1,  // what was adopted earlier on this device; no new tuning
  tune = 2     // everything
};

enum class Isolation : std::uint8_t {
  // Trials run in the program `idletune-helper`: a crash, an abort or a hung driver costs the
  // helper
  // and never the application.
  helper_process = 0,
  // Trials run in the application's process, on the agent's own thread. The weaker promise: a
  // configuration that takes the process down takes the application down, once; the next start
  // quarantines it.
  in_process = 1
};

// 1 error, 2 decisions, 3 every stage. The library never prints by itself.
using LogFunction = void (*)(void* user, int level, const char* message);

inline constexpr char kNoModel[] = "-";

class SearchLearner;

struct AgentOptions {
  // Path of an .itmodel. Empty: the one that ships with the kernels (`idletune.itmodel` beside the
  // program, then in the install prefix's share/idletune), if it is there; kNoModel: none.
  std::string model;
  // How often idle() and background tuning look whether the model's file was replaced (one stat),
  // and take over the new one; that once, a call may take some milliseconds longer than its budget.
  // 0: never, only Agent::reload_model does. Launches never look.
  std::chrono::nanoseconds model_check_interval{0};
  std::string state;  // folder of journal and program cache; empty: memory only
  Mode mode = Mode::tune;
  Isolation isolation = Isolation::helper_process;
  std::string helper;                      // path of idletune-helper; empty: beside the
                                           // executable, then the install prefix, then PATH
  std::string quirks;                      // text file of further known-bad patterns; empty: none
  std::string sysfs_root = "/sys";         // board sensors
  std::chrono::nanoseconds max_tuning{0};  // device time of trials in this process; 0: unlimited
  std::chrono::nanoseconds run_deadline{std::chrono::seconds(2)};  // of one run of a candidate
  double idle_cost = 0.02;             // kappa: what an idle second of the device is worth
                                       // in busy seconds (energy, heat)
  double compile_cost = 0.01;          // likewise, a second of low-priority compilation
  double overhead_limit = 0.02;        // charged tuning time per kernel time + savings
  double adoption_margin = 0.03;       // a challenger must win by this share
  double well_performing_ratio = 0.9;  // r of the well-performing fraction
  double wanted_probability = 0.9;     // p_s of formula 2
  double unknown_horizon = 1.0;        // further launches expected per launch seen so far,
                                       // where the application has not said
  std::size_t scratch_limit_bytes = std::size_t{256} << 20;  // device memory of the tuner
  std::size_t max_shapes = 64;  // per kernel; further shapes run the default
  // What learns from measurements while searching (<idletune/learning.hpp>); null: nothing does,
  // the model's portfolio and uniform draws are tried, and the program is smaller.
  const SearchLearner* learner = nullptr;
  std::uint64_t seed = 1;
  bool read_environment = true;  // the IDLETUNE_* table of the README overrides fields
  LogFunction log = nullptr;
  void* log_user = nullptr;
  int log_level = 1;
};

struct BackgroundOptions {
  double max_duty = 0.2;          // share of wall-clock time in which a stage may run
  double min_battery = 0.3;       // state of charge below which nothing runs, unless on mains
  double max_load = 0.8;          // GPU load (0..1) above which nothing runs, where a sensor tells
  double thermal_margin_c = 5.0;  // kelvin below the nearest passive trip point
  std::chrono::nanoseconds max_gap{
      std::chrono::milliseconds(50)};  // one idle step at most this long
};

// Lets the application's own launches time checked configurations (events only, no copies).
struct InPlaceOptions {
  bool allowed = false;
  double max_slowdown = 0.05;  // share by which the application's kernel time may grow meanwhile
};

// Applies the environment table (IDLETUNE_MODE, _STATE, _MODEL, _VERBOSE, _MAX_TUNING_MS, _HELPER).
// Error: invalid_argument naming the variable and what it takes. The only reader of the
// environment.
Status apply_environment(AgentOptions& options);

// IDLETUNE_OPENCL_LIBRARY, IDLETUNE_CUDA_LIBRARY, IDLETUNE_NVRTC_LIBRARY; empty when not set.
std::string environment_opencl_library();
std::string environment_cuda_library();
std::string environment_nvrtc_library();

}  // namespace idletune
