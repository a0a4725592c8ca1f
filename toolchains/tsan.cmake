# cmake -C toolchains/tsan.cmake: tests under the thread sanitizer.
include(${CMAKE_CURRENT_LIST_DIR}/host.cmake)
set(IDLETUNE_SANITIZE thread CACHE STRING "")
