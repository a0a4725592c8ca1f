// Pairs of events around launches of the application, for the production watch.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "platform/cuda/driver.hpp"

namespace idletune::cuda {

struct ProfileTicket {
  EventHandle start = nullptr;
  EventHandle end = nullptr;
  std::atomic<std::uint32_t> next{0};  // in the list of free ones: position + 1, 0 at its end
};

// A fixed number of tickets that are given out and come back, from any thread, without locks and
// allocations of ours. The events of a ticket are made when it is used first and kept.
class ProfileTickets {
 public:
  // More are hardly in use at once: four per step and shape of a kernel wait for the tuner
  // (agent/launch/launch_table.hpp). What finds none left is not timed.
  static constexpr std::uint32_t kCount = 1024;

  explicit ProfileTickets(std::shared_ptr<const Driver> driver);
  ~ProfileTickets();
  ProfileTickets(const ProfileTickets&) = delete;
  ProfileTickets& operator=(const ProfileTickets&) = delete;

  // Null when all are in use or the driver makes no events. A context must be current.
  ProfileTicket* take();
  void give_back(ProfileTicket* ticket);
  // Destroys the events, in the current context. No ticket may be in use afterwards.
  void destroy_events();

 private:
  bool make_events(ProfileTicket& ticket) const;

  std::shared_ptr<const Driver> driver_;
  std::unique_ptr<ProfileTicket[]> tickets_;
  std::atomic<std::uint32_t> fresh_{0};  // tickets never given out begin here
  // Position + 1 of the first free one, and in the upper half how often this has changed: a ticket
  // that was taken and given back meanwhile is not mistaken for one that stayed.
  std::atomic<std::uint64_t> free_{0};
};

}  // namespace idletune::cuda
