#include "platform/cuda/profile_tickets.hpp"

namespace idletune::cuda {
namespace {

// Position + 1 of the first free ticket; 0: none.
std::uint32_t first_of(std::uint64_t head) { return static_cast<std::uint32_t>(head); }

std::uint64_t head_after(std::uint64_t head, std::uint32_t position_plus_one) {
  return (((head >> 32) + 1) << 32) | position_plus_one;
}

}  // namespace

ProfileTickets::ProfileTickets(std::shared_ptr<const Driver> driver)
    : driver_(std::move(driver)), tickets_(new ProfileTicket[kCount]) {}

ProfileTickets::~ProfileTickets() = default;

ProfileTicket* ProfileTickets::take() {
  ProfileTicket* ticket = nullptr;
  std::uint64_t head = free_.load(std::memory_order_acquire);
  while (first_of(head) != 0) {
    ProfileTicket& first = tickets_[first_of(head) - 1];
    const std::uint32_t next = first.next.load(std::memory_order_relaxed);
    if (free_.compare_exchange_weak(head, head_after(head, next), std::memory_order_acq_rel,
                                    std::memory_order_acquire)) {
      ticket = &first;
      break;
    }
  }
  if (ticket == nullptr) {
    if (fresh_.load(std::memory_order_relaxed) >= kCount) return nullptr;
    const std::uint32_t position = fresh_.fetch_add(1, std::memory_order_relaxed);
    if (position >= kCount) return nullptr;
    ticket = &tickets_[position];
  }
  if (make_events(*ticket)) return ticket;
  give_back(ticket);
  return nullptr;
}

bool ProfileTickets::make_events(ProfileTicket& ticket) const {
  for (EventHandle* event : {&ticket.start, &ticket.end}) {
    if (*event == nullptr && driver_->EventCreate(event, kEventDefault) != kSuccess) {
      *event = nullptr;
      return false;
    }
  }
  return true;
}

void ProfileTickets::give_back(ProfileTicket* ticket) {
  const auto position_plus_one = static_cast<std::uint32_t>(ticket - tickets_.get()) + 1;
  std::uint64_t head = free_.load(std::memory_order_relaxed);
  do {
    ticket->next.store(first_of(head), std::memory_order_relaxed);
  } while (!free_.compare_exchange_weak(head, head_after(head, position_plus_one),
                                        std::memory_order_acq_rel, std::memory_order_relaxed));
}

void ProfileTickets::destroy_events() {
  for (std::uint32_t i = 0; i < kCount; ++i) {
    for (EventHandle* event : {&tickets_[i].start, &tickets_[i].end}) {
      if (*event != nullptr) (void)driver_->EventDestroy(*event);
      *event = nullptr;
    }
  }
}

}  // namespace idletune::cuda
