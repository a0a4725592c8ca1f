#include "agent/host/cli/progress.hpp"

#include <unistd.h>

#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/text_layout.hpp"
#include "agent/host/report/numbers.hpp"

namespace idletune::cli {
namespace {

constexpr std::chrono::milliseconds kRedrawEvery{100};
constexpr std::chrono::seconds kPlainLineEvery{5};
constexpr std::size_t kBarWidth = 24;

std::string bar(double share) {
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(kBarWidth));
  return "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "]";
}

}  // namespace

std::string readable(std::chrono::nanoseconds duration) {
  constexpr std::chrono::milliseconds kNearlyAMinute{59950};
  if (duration < kNearlyAMinute)
    return terminal_text(report::time_text(static_cast<double>(duration.count())));
  const long long whole = std::llround(std::chrono::duration<double>(duration).count());
  char text[64];
  if (whole < 3600) {
    std::snprintf(text, sizeof(text), "%lld min %02lld s", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof(text), "%lld h %02lld min", whole / 3600, whole / 60 % 60);
  }
  return text;
}

Progress::Progress(std::string task, std::size_t total, bool quiet)
    : task_(std::move(task)),
      total_(total),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      last_print_(start_) {}

Progress::~Progress() { clear(); }

void Progress::update(std::size_t done, const std::string& note) {
  if (quiet_) return;
  const auto now = Clock::now();
  const bool finished = terminal_ && total_ > 0 && done >= total_;
  const auto pause = terminal_ ? Clock::duration(kRedrawEvery) : Clock::duration(kPlainLineEvery);
  const bool first = terminal_ && !draws_line(true);
  if (!finished && !first && now - last_print_ < pause) return;
  last_print_ = now;
  const std::string text = line(done, note, now - start_);
  if (terminal_) {
    std::fprintf(stderr, "\r%s\x1b[K", fitted(text, terminal_columns(STDERR_FILENO) - 1).c_str());
    std::fflush(stderr);
  } else {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
}

void Progress::clear() {
  if (!draws_line(false)) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

std::string Progress::line(std::size_t done, const std::string& note,
                           Clock::duration elapsed) const {
  std::string text = std::to_string(done);
  std::string drawn;
  if (total_ > 0) {
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
    drawn = bar(share) + " ";
    text += "/" + std::to_string(total_);
    if (done > 0 && done < total_) {
      const auto left =
          std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed * ((1.0 - share) / share));
      text += ", " + readable(left) + " left";
    }
  }
  if (!note.empty()) text += "  " + terminal_text(note);
  // The bar is what a narrow terminal can do without.
  const std::size_t room = terminal_columns(STDERR_FILENO);
  const bool fits = display_width(task_ + " " + drawn + text) < room;
  return task_ + " " + (terminal_ && fits ? drawn : "") + text;
}

}  // namespace idletune::cli
