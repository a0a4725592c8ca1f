#include "agent/cli/progress.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

namespace idletune::cli {
namespace {

constexpr std::chrono::milliseconds kRedrawEvery{100};
constexpr std::chrono::seconds kPlainLineEvery{5};
constexpr std::size_t kBarWidth = 24;

std::atomic<bool> interrupt_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

void request_interrupt(int) { interrupt_requested.store(true); }

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string bar(double share) {
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(kBarWidth));
  return "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "]";
}

// Cuts to `width` bytes without leaving half a UTF-8 character behind.
std::string cut(std::string text, std::size_t width) {
  if (text.size() <= width) return text;
  while (width > 0 && (static_cast<unsigned char>(text[width]) & 0xC0u) == 0x80u) --width;
  text.resize(width);
  return text;
}

}  // namespace

std::string readable(std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  char text[64];
  if (seconds < 1e-6) {
    std::snprintf(text, sizeof(text), "%.0f ns", seconds * 1e9);
  } else if (seconds < 1e-3) {
    std::snprintf(text, sizeof(text), "%.1f us", seconds * 1e6);
  } else if (seconds < 1) {
    std::snprintf(text, sizeof(text), "%.1f ms", seconds * 1e3);
  } else if (seconds < 60) {
    std::snprintf(text, sizeof(text), "%.1f s", seconds);
  } else {
    const long long whole = std::llround(seconds);
    if (whole < 3600) {
      std::snprintf(text, sizeof(text), "%lld min %02lld s", whole / 60, whole % 60);
    } else {
      std::snprintf(text, sizeof(text), "%lld h %02lld min", whole / 3600, whole / 60 % 60);
    }
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

Progress::~Progress() {
  if (drawn_) std::fputc('\n', stderr);
}

void Progress::update(std::size_t done, const std::string& note) {
  if (quiet_) return;
  const auto now = Clock::now();
  const bool finished = total_ > 0 && done >= total_;
  const auto pause = terminal_ ? Clock::duration(kRedrawEvery) : Clock::duration(kPlainLineEvery);
  const bool first = terminal_ && !drawn_;
  if (!finished && !first && now - last_print_ < pause) return;
  last_print_ = now;
  const std::string text = line(done, note, now - start_);
  if (terminal_) {
    std::fprintf(stderr, "\r%s\x1b[K", cut(text, terminal_width() - 1).c_str());
    std::fflush(stderr);
    drawn_ = true;
  } else {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
}

void Progress::clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

std::string Progress::line(std::size_t done, const std::string& note,
                           Clock::duration elapsed) const {
  std::string text = task_ + " ";
  if (total_ > 0) {
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
    if (terminal_) text += bar(share) + " ";
    text += std::to_string(done) + "/" + std::to_string(total_);
    if (done > 0 && done < total_) {
      const auto left =
          std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed * ((1.0 - share) / share));
      text += ", " + readable(left) + " left";
    }
  } else {
    text += std::to_string(done);
  }
  if (!note.empty()) text += "  " + note;
  return text;
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = request_interrupt;
  // The second signal finds the default action again, so that a stuck program can be ended.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupt_requested.load(); }

}  // namespace idletune::cli
