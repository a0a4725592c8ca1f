# cmake -C toolchains/host.cmake: this machine, with tests and warnings as errors.
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
# No more debug information than a backtrace needs.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG" CACHE STRING "")
set(IDLETUNE_DEVELOPER ON CACHE BOOL "")
