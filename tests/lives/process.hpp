// A process of the application with its agent: all that the simulator knows of the inside of either
// stands in process.cpp. Nothing else in this folder includes the agent's private headers but for
// interfaces that tests fill (storage, runner, clock).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/notes.hpp>
#include <idletune/tuner.hpp>

#include "agent/journal/state.hpp"
#include "agent/trial/trial.hpp"
#include "tests/lives/played_device.hpp"
#include "tests/lives/played_files.hpp"
#include "tests/lives/played_models.hpp"
#include "tests/lives/played_time.hpp"
#include "tests/lives/world.hpp"
#include "tests/unit/journal/faulty_storage.hpp"

namespace idletune::detail {
class BackgroundLoop;
class AgentState;
}  // namespace idletune::detail

namespace idletune::lives {

// What the agent says it knows.
struct Snapshot {
  std::set<int> quarantined, suspect;          // under the driver of the process
  std::map<std::string, int> measured;         // trial: status
  std::map<std::string, std::string> adopted;  // shape: configuration
  double charged = 0, kernel = 0, saved = 0;   // seconds
  // Of shapes of a kernel, ever, as recorded.
  std::map<std::pair<std::uint64_t, int>, std::uint64_t> launches;
};

// What a stage's configuration is in what goes on.
enum class Role : std::uint8_t { candidate, incumbent, recheck };
// Whose launch it is.
enum class Runs : std::uint8_t { fallback, adopted, by_class, racer, unslotted, unpublished };
const char* name_of(Role role);
const char* name_of(Runs runs);

struct ProcessParts {
  const World* world = nullptr;
  AgentOptions options;
  std::shared_ptr<PlayedTime> time;
  const World::Package* package = nullptr;
  std::shared_ptr<PlayedDevice> device;
  std::shared_ptr<test::Disk> disk;
  std::uint64_t boot = 0;
  std::vector<std::uint64_t>* page = nullptr;  // in memory; outlives the process
  int quirk = 0;  // the configuration that the quirk table names; 0: none
  bool in_place = false;
  std::shared_ptr<const Model> model;
  std::function<std::unique_ptr<TrialRunner>()> make_runner;
  std::function<double()> gpu_load;
  PlayedFiles* files = nullptr;
};

class Process {
 public:
  explicit Process(const ProcessParts& parts);
  void start();  // opens the agent and loads the kernel
  ~Process();    // as an application that ends in order
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // What applications do.
  Status launch(int s);
  void call_failed(int c, int s, const Measurement& measurement);  // of a launch
  // From now on another constant buffer (0 or 1) or queue, or other contents, which it says.
  void use(int constants, int queue);
  void constants_change();
  void capture(int s, int data);  // lends it
  // What a launch reads of constants now: the buffer, and its contents.
  std::pair<const void*, int> constants() const;
  int shape_of(const void* buffer) const;  // that such a launch passed
  IdleReport idle(Nanoseconds budget);
  IdleReport tune(Nanoseconds budget);
  Nanoseconds background_round();  // how long to sleep
  void prepare(int s);
  void expect(int s, double launches);
  void explain() const;
  Status flush();
  void use_model(const std::shared_ptr<const Model>& model);
  Status confirm_model();
  Status reject_model();
  void allow_in_place(bool allowed);
  std::unique_ptr<Notes> notes();

  // What its agent says.
  Snapshot snapshot() const;
  Snapshot account() const;  // seconds only
  Models models() const;
  std::string key_text(int s) const;           // of the shape, in snapshots
  std::string trial_text(int c, int s) const;  // likewise
  bool in_debt() const;                        // the account bears nothing more
  bool storage_ok() const;
  bool device_is_lost() const;
  bool tuning_goes_on() const;
  bool is_suspect(int c) const;
  bool has_survived(int c) const;  // a suspect, a trial somewhere
  bool is_quarantined(int c) const;
  bool is_adopted(int c) const;  // at any shape
  bool in_quirks(int c) const { return c > 0 && c == parts_.quirk; }
  bool is_barred(int c) const { return is_quarantined(c) || in_quirks(c); }  // for good
  // Status of the measurement; -1: none.
  int measured(int c, int s) const;
  bool is_wrong(int c, int s) const;  // on whatever data
  bool has_slot(int s) const;
  bool class_is_kept(int s) const;       // what its slot runs for its class is not compared
  std::uint64_t data_at(int s) const;    // on which it is tuned
  int running(int s) const;              // what its slot runs; 0 without one
  int adopted_at(int s) const;           // and has been adopted for it; 0: nothing; -1: no slot
  int recorded_at(int s) const;          // as adopted, under this driver; 0: nothing
  int evaluated_at(int s) const;         // how many configurations are said to have been tried
  bool is_recorded(int c, int s) const;  // likewise, on whatever data
  bool is_demoted(int c, int s) const;   // ever, on the data that it is tuned on

  // What goes on inside.
  Role role(int c, int s) const;
  Runs runs(int c, int s) const;
  int candidate_at(int s) const;  // of the step under way; -1: none
  std::set<int> racing() const;
  bool worker_rests() const;
  bool classes_fail() const;
  // A record says that it is or may be under way; s < 0: at some shape.
  bool announced(int c, int s) const;
  std::set<int> announced(bool in_helper_only = false) const;
  std::set<int> announced_in_helper() const { return announced(true); }
  bool announced_beside(int s) const;  // in the helper, at another shape
  // The same of what lies in a journal, and what is noted there.
  bool announced_in(Bytes journal, int c, int s) const;
  std::string noted_in(Bytes journal, std::uint64_t digest) const;
  // Visits what was checked twice and right under this driver: configuration and shape.
  void for_each_passed(const std::function<void(int, int)>& visit) const;
  // Slots that are held for nothing: a word on each.
  std::string idle_slots() const;

 private:
  struct Inside;
  bool announced_in(const journal::State& state, int c, int s) const;

  const ProcessParts parts_;
  const World& world_;
  std::unique_ptr<Inside> inside_;
};

}  // namespace idletune::lives
