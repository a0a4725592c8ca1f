// One run: a board, its events, and the lives of the application on it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/lives/events.hpp"
#include "tests/lives/played_files.hpp"
#include "tests/lives/played_runner.hpp"
#include "tests/lives/process.hpp"
#include "tests/lives/promises.hpp"
#include "tests/lives/reference.hpp"
#include "tests/lives/solving.hpp"
#include "tests/lives/told.hpp"
#include "tests/lives/world.hpp"

namespace idletune::lives {

class Simulation {
 public:
  Simulation(const World& world, const std::vector<Event>& events, bool print);
  ~Simulation();
  std::vector<Violation> run();
  int lives() const { return reference_.life() + 1; }

 private:
  // What shall happen in this life at the n-th of something; 0: nothing.
  struct Plans {
    int stages_to_death = 0;
    Death death_at_stage = Death::none;
    int stages_to_killing = 0;
    int reaped = 0, starved = 0, noisy = 0, memory_short = 0;
    int stages_to_freezing = 0, freezing_seconds = 0;
    int slow_syncs = 0, slow_builds = 0;
    int stages_to_loss = 0;
    Nanoseconds sync_time{0}, build_time{0};
    Death death_at_write = Death::none;
  };
  // What a shape's launches ran, and how often the tuner looked meanwhile.
  struct Running {
    int configuration = 0;
    int looks = 0;
    int watched = 0;   // of these, with a slot and nothing being built
    int launches = 0;  // since the last look
  };

  // What was adopted for a shape.
  struct Standing {
    int adopted = -1;  // at the last look, stage or launch; as Process::adopted_at
    int unrun = 0;     // looks since what is on record could run
  };

  // events.
  void step(const Event& event);
  void step_of_the_board(const Event& event);
  void models(const Event& event);
  void launch(int s, int times);
  void launch_once(int s);
  void tell_failures();
  void frames(int s, int times);
  void launch_beside(int s, int times);
  void capture(int s, int data);
  void gap(Nanoseconds length, bool granted);
  void background(Nanoseconds length);
  void looked(bool everywhere = true);
  void note_adopted();
  void note_adopted(int s, int is);
  void note_measured(int c);
  void note_unrun();
  // doubles.
  void make_device();
  void make_disk(const test::Files& files);
  Solving::Parts solving_parts();
  std::unique_ptr<TrialRunner> make_runner();
  void is_built(int c);
  Status compiled(Values values);
  Status warmed_up(Values values, Nanoseconds deadline);
  Result<Nanoseconds> launched(const Enqueued& step);
  Result<Nanoseconds> prepared(const Enqueued& setup);
  void note_open();
  void before_sync();
  void count_announcement();
  void before_change();
  std::size_t unsynced_bytes() const;
  bool announced_on_medium(int c, int s) const;
  Bytes journal_on_medium() const;  // without its end that is not
  void announce(const Handed& handed);
  void fly(const TrialRequest& request);
  bool loses_device(const TrialRequest& request);
  void prepare_data(const TrialRequest& request, TrialOutcome& outcome);
  TrialOutcome outcome_of(const TrialRequest& request);
  void in_vain(int s);
  TrialStatus status_of(int c, const TrialRequest& request);
  Status before_write(FileSync sync);
  void landed(const TrialRequest& request, const TrialOutcome& outcome);
  Nanoseconds wait_for_stage();
  void take_time(Nanoseconds time);
  void check_launch(int c, int s, Runs runs);
  void bill(int c, int s, Runs runs, Nanoseconds time);
  Nanoseconds at_speed(Nanoseconds time) const;
  bool one_in(std::uint64_t n, std::uint64_t what, int c);
  // life and death.
  void begin_life();
  void die(Death death);
  void next_life();
  test::Files medium_after_cut(std::uint64_t draw) const;
  void forgive_uncharged();
  void end_process(bool in_order);
  void check_standing();
  void check_models();
  void check_start(const Ending& ending, const Verdicts& verdicts, bool same_driver);
  void tell_end(const Ending& ending, const Verdicts& verdicts, const test::Files& files) const;
  // the quiet end.
  void end_quietly();
  bool quiet_round(std::string& lost, bool& ended, int launches);
  void quiet_turn(int s, int launches);
  void try_what_was_put_aside();
  int kept_shapes() const;
  void check_slots();

  bool alive() const { return death_ == Death::none; }
  // An end in order takes a while, in which stages still end.
  bool ends_in_order() const { return death_ == Death::clean && process_ == nullptr; }
  int index_of(Values values) const;

  const World& world_;
  const std::vector<Event>& events_;
  const bool print_;
  Report report_;
  Reference reference_;
  Promises promises_;
  Solving solving_;
  // --- the board ---
  std::shared_ptr<PlayedTime> time_;
  std::shared_ptr<PlayedDevice> device_;
  std::shared_ptr<test::Disk> disk_;
  PlayedFiles lent_;  // beside its journal
  std::uint64_t boot_ = 1;
  int next_driver_ = 0, next_quirk_ = 0;
  double speed_ = 1;
  bool busy_ = false, in_place_ = false;
  std::shared_ptr<const Model> model_;
  std::uint64_t generation_ = 0;  // of the model that was pushed last
  std::vector<std::uint8_t> pushed_;
  ToldModels told_models_;
  // --- the process ---
  std::unique_ptr<Told> told_;  // outlives the process
  std::unique_ptr<Process> process_;
  Death death_ = Death::none;
  Ending ending_;  // of the process that died
  test::Files files_;
  Plans plans_;
  std::optional<TrialRequest> flying_;
  Nanoseconds flight_ends_{0}, flight_run_{0};
  Nanoseconds waited_until_{0};     // by whoever waits for it
  bool flight_is_charged_ = false;  // it is idle time's
  double waited_in_flight_ = 0, raced_since_look_ = 0;
  int turns_to_earn_ = 200;           // in the end, what was charged before
  std::map<int, int> raced_in_debt_;  // launches that took longer, since the account bears none
  std::set<int> built_;               // for launches, since the tuner's last look
  // Of a configuration at a shape, in launches of this life.
  struct Launched {
    Nanoseconds first{0}, last{0};
    int times = 0;
    bool looked = false;  // after the first
  };
  Nanoseconds looked_at_{0}, called_at_{0};  // a look comes first in what is called
  std::map<std::pair<int, int>, Launched> launched_;
  std::set<int> told_again_;                     // begun in lives whose starts could record nothing
  std::vector<std::uint64_t> page_, left_page_;  // the agent's trace; what the dead one left
  Nanoseconds owed_{0};                          // by launches, until they have returned
  // Calls that failed, until the application says so.
  struct Failure {
    int c, s;
    Measurement measurement;
  };
  std::vector<Failure> failures_;
  std::set<std::pair<int, int>> told_failed_;    // since the last look
  bool bad_launch_ = false, launching_ = false;  // launching: the main thread
  bool lost_ = false, lost_told_ = false;        // the device, for helpers; the reference failed
  bool froze_ = false;                           // since this gap began
  int constants_ = 0, queue_ = 0, refused_orders_ = 0, untimed_ = 0;
  // What setups made: of which constant buffer, with which contents.
  std::map<const void*, std::pair<const void*, int>> prepared_;
  const char* calling_ = "start";
  std::map<int, Running> running_;    // by shape
  std::map<int, Standing> standing_;  // likewise
  bool excused_ = false;              // since the last look: an error of the application's
  std::map<int, std::uint64_t> runs_of_, checks_of_;  // of a configuration in helpers
  std::uint64_t counter_ = 0;                         // of draws while it runs
  std::size_t writes_ = 0;
  int announced_in_vain_ = 0;  // within the minute that began then
  Nanoseconds first_in_vain_{0};
  // --- accounts ---
  Bill bill_, life_bill_;
  Snapshot last_, acknowledged_, dying_, before_;  // before_: this life
  double charged_last_ = 0;
  std::size_t last_operations_ = 0;
  bool has_acknowledged_ = false, has_acknowledged_before_ = false;
  std::optional<Snapshot> flushed_;
};

}  // namespace idletune::lives
