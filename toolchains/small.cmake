# cmake -C toolchains/small.cmake: this machine, optimised for size as for a board.
set(CMAKE_BUILD_TYPE MinSizeRel CACHE STRING "")
set(IDLETUNE_BUILD_HOST OFF CACHE BOOL "")
set(IDLETUNE_BUILD_TESTS ON CACHE BOOL "")
