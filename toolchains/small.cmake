# cmake -C toolchains/small.cmake: this machine, optimised for size as for a board.
set(CMAKE_BUILD_TYPE MinSizeRel CACHE STRING "")
set(CMAKE_UNITY_BUILD ON CACHE BOOL "")
set(IDLETUNE_BUILD_HOST OFF CACHE BOOL "")
set(IDLETUNE_BUILD_TESTS ON CACHE BOOL "")
