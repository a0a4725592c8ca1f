// Enough for headers of gpuocelot that name threads: the replay has one.
#pragma once

namespace boost {
struct thread {
  using id = unsigned long;
};
struct mutex {
  void lock() {}
  void unlock() {}
  struct scoped_lock {
    explicit scoped_lock(mutex&) {}
  };
};
}  // namespace boost
