# cmake -C toolchains/host.cmake: this machine, with tests and warnings as errors.
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(IDLETUNE_DEVELOPER ON CACHE BOOL "")
