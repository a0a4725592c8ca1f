#include "tests/fails/failing_calls.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

std::atomic<unsigned long> chosen{0};
std::atomic<unsigned long> counted{0};
std::atomic<const char*> failed{""};

bool fails(const char* name) {
  const unsigned long number = chosen.load();
  if (number == 0 || counted.fetch_add(1) + 1 != number) return false;
  failed.store(name);
  return true;
}

template <class Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

namespace idletune::test {

void fail_system_call(unsigned long n) {
  counted.store(0);
  failed.store("");
  chosen.store(n);
}
unsigned long system_calls() { return counted.load(); }
const char* failed_system_call() { return failed.load(); }

}  // namespace idletune::test

// Those that return -1 with an error.
#define FAILING_CALL(name, error, parameters, arguments, ...) \
  extern "C" int name parameters __VA_ARGS__ {                \
    static auto* const real_one = real(&name, #name);         \
    if (!fails(#name)) return real_one arguments;             \
    errno = error;                                            \
    return -1;                                                \
  }
FAILING_CALL(mkdir, EACCES, (const char* path, mode_t mode), (path, mode), noexcept)
FAILING_CALL(fsync, EIO, (int file), (file), )
FAILING_CALL(fdatasync, EIO, (int file), (file), )
FAILING_CALL(renameat, EIO, (int a, const char* from, int b, const char* to), (a, from, b, to),
             noexcept)
FAILING_CALL(unlinkat, EIO, (int folder, const char* path, int flags), (folder, path, flags),
             noexcept)
FAILING_CALL(ftruncate, EIO, (int file, off_t size), (file, size), noexcept)
FAILING_CALL(flock, ENOLCK, (int file, int operation), (file, operation), noexcept)
FAILING_CALL(fstat, EIO, (int file, struct stat* info), (file, info), noexcept)
FAILING_CALL(socketpair, EMFILE, (int domain, int type, int protocol, int ends[2]),
             (domain, type, protocol, ends), noexcept)
#undef FAILING_CALL

extern "C" int openat(int folder, const char* path, int flags, ...) {
  static auto* const real_one = real(&openat, "openat");
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
  }
  if (!fails("openat")) return real_one(folder, path, flags, mode);
  errno = (flags & O_ACCMODE) == O_RDONLY ? ENOMEM : EMFILE;
  return -1;
}

extern "C" int posix_fallocate(int file, off_t offset, off_t size) {
  static auto* const real_one = real(&posix_fallocate, "posix_fallocate");
  return fails("posix_fallocate") ? ENOSPC : real_one(file, offset, size);
}

extern "C" void* mmap(void* at, size_t size, int protection, int flags, int file,
                      off_t offset) noexcept {
  static auto* const real_one = real(&mmap, "mmap");
  if (file < 0 || !fails("mmap")) return real_one(at, size, protection, flags, file, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}

extern "C" ssize_t write(int file, const void* data, size_t size) {
  static auto* const real_one = real(&write, "write");
  if (!fails("write")) return real_one(file, data, size);
  errno = ENOSPC;
  return -1;
}

extern "C" ssize_t read(int file, void* data, size_t size) {
  static auto* const real_one = real(&read, "read");
  if (!fails("read")) return real_one(file, data, size);
  errno = EIO;
  return -1;
}

extern "C" ssize_t send(int end, const void* data, size_t size, int flags) {
  static auto* const real_one = real(&send, "send");
  if (!fails("send")) return real_one(end, data, size, flags);
  errno = ENOBUFS;
  return -1;
}

extern "C" ssize_t recv(int end, void* data, size_t size, int flags) {
  static auto* const real_one = real(&recv, "recv");
  if (!fails("recv")) return real_one(end, data, size, flags);
  errno = ENOMEM;
  return -1;
}

extern "C" int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                           const posix_spawnattr_t* attributes, char* const arguments[],
                           char* const environment[]) {
  static auto* const real_one = real(&posix_spawn, "posix_spawn");
  if (fails("posix_spawn")) return EAGAIN;
  return real_one(pid, path, actions, attributes, arguments, environment);
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*body)(void*), void* argument) noexcept {
  static auto* const real_one = real(&pthread_create, "pthread_create");
  if (fails("pthread_create")) return EAGAIN;
  return real_one(thread, attributes, body, argument);
}

void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return fails("operator new") ? nullptr : std::malloc(size);
}
void* operator new[](std::size_t size) {
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
