# cmake -C toolchains/asan.cmake: tests under the address and undefined-behaviour sanitizers.
include(${CMAKE_CURRENT_LIST_DIR}/host.cmake)
set(IDLETUNE_SANITIZE address CACHE STRING "")
