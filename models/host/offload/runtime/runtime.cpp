#include "models/host/offload/runtime/runtime.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "models/host/offload/runtime/bursts.hpp"
#include "models/host/offload/runtime/region_record.hpp"
#include "models/host/offload/runtime/settings.hpp"

extern "C" {
std::uint64_t idletune_recent_reads[kIdletuneRecent];
std::uint64_t idletune_recent_writes[kIdletuneRecent];
std::int64_t idletune_countdown = 0;
std::uint8_t idletune_tracing = 0;
}

namespace idletune::offload {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kPoll = std::int64_t{1} << 20U;  // operations between looks at signals
// Who has not looked for so long is in a call of a library.
constexpr std::chrono::milliseconds kLooks{200};

struct Settings {
  std::string result;  // path of the file
  bool full = false;   // trace everything
};

class Profiler {
 public:
  void add(const std::uint32_t* words, const std::uint64_t* counts, const char* settings);
  void enter(std::uint32_t region, const void* frame);
  void leave(std::uint32_t region);
  void thrown(std::uint32_t region);
  void change();
  void label(const char* label);
  void end(const char* how);
  RegionRecord& current() { return *current_; }
  static void on_signal(int signal);

 private:
  [[noreturn]] void stop();
  [[noreturn]] void fail(const char* code, const std::string& message);
  void write_regions(const std::string& label);
  void begin_burst();
  void end_burst();

  Settings settings_;
  std::vector<std::unique_ptr<RegionRecord>> regions_;
  RegionRecord* current_ = nullptr;
  std::atomic<bool> inside_{false};
  pthread_t thread_{};  // that is inside
  Clock::time_point entered_;
  std::FILE* file_ = nullptr;
  bool first_region_ = true;
  bool ended_ = false;
  std::string label_;
  Bursts bursts_;
};

// Never destroyed: the program may end in any way.
Profiler& profiler() {
  static Profiler& profiler = *new Profiler;
  return profiler;
}
std::atomic<bool> stop_wanted{false};
std::atomic<Clock::rep> stop_wanted_at{0};

// The thread in a region is at work on what end() writes.
std::atomic<bool> at_work{false};
class AtWork {
 public:
  AtWork() { set(true); }
  ~AtWork() { set(false); }

 private:
  static void set(bool value) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    at_work.store(value, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
};

void Profiler::add(const std::uint32_t* words, const std::uint64_t* counts, const char* settings) {
  if (regions_.empty()) {
    settings_.result = setting(settings, "result");
    settings_.full = setting(settings, "full") == "1";
    file_ = std::fopen(settings_.result.c_str(), "w");
    if (file_ == nullptr) {
      std::fprintf(stderr, "idletune: '%s' cannot be written\n", settings_.result.c_str());
      std::_Exit(97);
    }
    std::fprintf(file_, "{\"regions\": [");
    std::atexit([] { profiler().end("finished"); });
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
  }
  regions_.push_back(std::make_unique<RegionRecord>(words, counts));
}

void Profiler::on_signal(int signal) {
  const Clock::rep now = Clock::now().time_since_epoch().count();
  if (!stop_wanted.exchange(true)) stop_wanted_at = now;
  if (!profiler().inside_) {
    profiler().end("interrupted");
    std::_Exit(0);
  }
  idletune_countdown = 0;  // the region looks soon, and in any case after kPoll operations
  // Whoever wants the end asks again.
  if (now - stop_wanted_at < Clock::duration(kLooks).count()) return;
  if (::pthread_equal(::pthread_self(), profiler().thread_) == 0) {
    (void)::pthread_kill(profiler().thread_, signal);
  } else if (!at_work) {
    profiler().stop();
  }
}

void Profiler::enter(std::uint32_t region, const void* frame) {
  if (inside_.exchange(true)) {
    fail("threads", "two threads are in regions at once, '" + current_->name() + "' and '" +
                        regions_[region]->name() + "': profile a run with one thread");
  }
  thread_ = ::pthread_self();
  RegionRecord* before = current_;
  current_ = regions_[region].get();
  ++current_->entries;
  const auto top = reinterpret_cast<std::uint64_t>(frame);
  current_->analysis().footprint().set_own(top - (std::uint64_t{8} << 20U), top);
  if (before != current_) {
    // Whose accesses were recent is not known of several regions.
    std::memset(idletune_recent_reads, 0, sizeof idletune_recent_reads);
    std::memset(idletune_recent_writes, 0, sizeof idletune_recent_writes);
  }
  if (current_->entries == 1) {
    bursts_.begin_run();
    begin_burst();
  }
  if (idletune_tracing == 0) current_->sampled = true;
  entered_ = Clock::now();
}

void Profiler::leave(std::uint32_t) {
  const auto spent = Clock::now() - entered_;
  current_->seconds += std::chrono::duration<double>(spent).count();
  if (idletune_tracing != 0) current_->tracer().leave();
  inside_ = false;
  if (stop_wanted) {
    end("interrupted");
    std::_Exit(0);
  }
}

void Profiler::thrown(std::uint32_t region) {
  fail("exception", "an exception was thrown in '" + regions_[region]->name() +
                        "': a region must end by returning");
}

void Profiler::begin_burst() {
  const auto length = static_cast<std::int64_t>(bursts_.begin());
  // All of them: other regions, too, ran on untraced, and may go on in this burst.
  for (const auto& region : regions_) {
    if (region->entries > 0) region->begin_burst(bursts_);
  }
  idletune_tracing = 1;
  idletune_countdown = settings_.full ? kPoll : length;
}

void Profiler::end_burst() {
  current_->sampled = true;
  idletune_tracing = 0;
  idletune_countdown = static_cast<std::int64_t>(bursts_.gap());
}

void Profiler::stop() {
  const auto spent = Clock::now() - entered_;
  current_->seconds += std::chrono::duration<double>(spent).count();
  end("interrupted");
  std::_Exit(0);
}

void Profiler::change() {
  if (stop_wanted) stop();
  if (idletune_tracing == 0) return begin_burst();
  if (settings_.full) {
    idletune_countdown = kPoll;
    return;
  }
  const std::uint64_t traced = current_->tracer().operations();
  if (traced >= bursts_.length()) return end_burst();
  idletune_countdown = static_cast<std::int64_t>(bursts_.length() - traced);
}

void Profiler::write_regions(const std::string& label) {
  for (const auto& region : regions_) {
    if (region->entries == 0) continue;
    std::fprintf(file_, "%s", first_region_ ? "\n" : ",\n");
    region->write(file_, label);
    first_region_ = false;
  }
}

void Profiler::label(const char* label) {
  if (inside_) fail("label", "a label begins within a region");
  write_regions(label_);
  for (const auto& region : regions_) {
    if (region->entries > 0) region->begin_run();
  }
  current_ = nullptr;
  label_ = label;
}

void Profiler::end(const char* how) {
  if (ended_) return;
  ended_ = true;
  write_regions(label_);
  std::fprintf(file_, "],\n\"end\": \"%s\"}\n", inside_ && !stop_wanted ? "inside" : how);
  std::fclose(file_);
}

void Profiler::fail(const char* code, const std::string& message) {
  ended_ = true;
  std::fclose(file_);
  file_ = std::fopen(settings_.result.c_str(), "w");
  std::fprintf(file_, "{\"error\": {\"code\": \"%s\", \"message\": \"%s\"}}\n", code,
               message.c_str());
  std::fclose(file_);
  std::_Exit(98);
}

void remember(std::uint64_t* recent, const void* address) {
  const std::uint64_t block = reinterpret_cast<std::uint64_t>(address) >> 7U;
  recent[block % kIdletuneRecent] = block;
}

}  // namespace
}  // namespace idletune::offload

using idletune::offload::AtWork;
using idletune::offload::profiler;

extern "C" {

void idletune_register(const std::uint32_t* words, const std::uint64_t* counts,
                       const char* settings) {
  profiler().add(words, counts, settings);
}
void idletune_enter(std::uint32_t region, const void* frame) {
  const AtWork here;
  profiler().enter(region, frame);
}
void idletune_leave(std::uint32_t region) {
  const AtWork here;
  profiler().leave(region);
}
void idletune_thrown(std::uint32_t region) { profiler().thrown(region); }
void idletune_turn(std::uint32_t block) {
  const AtWork here;
  profiler().current().turn(block);
}
void idletune_switch() {
  const AtWork here;
  profiler().change();
}
void idletune_block(std::uint32_t block) {
  const AtWork here;
  profiler().current().tracer().enter(block);
}
void idletune_access(const void* address) {
  const AtWork here;
  profiler().current().tracer().access(reinterpret_cast<std::uint64_t>(address));
}
void idletune_first_read(const void* address) {
  const AtWork here;
  idletune::offload::remember(idletune_recent_reads, address);
  profiler().current().analysis().footprint().read(reinterpret_cast<std::uint64_t>(address));
}
void idletune_first_write(const void* address) {
  const AtWork here;
  idletune::offload::remember(idletune_recent_writes, address);
  profiler().current().analysis().footprint().write(reinterpret_cast<std::uint64_t>(address));
}
void idletune_first_write_with_gaps(const void* address) {
  const AtWork here;
  idletune::offload::remember(idletune_recent_writes, address);
  profiler().current().analysis().footprint().write(reinterpret_cast<std::uint64_t>(address), true);
}
void idletune_bulk(void* to, const void* from, std::uint64_t bytes, std::uint32_t load,
                   std::uint32_t store) {
  const AtWork here;
  profiler().current().bulk(reinterpret_cast<std::uint64_t>(to),
                            reinterpret_cast<std::uint64_t>(from), bytes, load, store,
                            idletune_tracing != 0);
  // One may take as long as many other operations.
  if (idletune::offload::stop_wanted) profiler().change();
}
void idletune_offload_label(const char* label) { profiler().label(label); }
}
