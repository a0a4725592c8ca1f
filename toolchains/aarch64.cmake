# cmake -C toolchains/aarch64.cmake: boards with a 64-bit Arm Linux; tests run under qemu.
set(CMAKE_TOOLCHAIN_FILE ${CMAKE_CURRENT_LIST_DIR}/aarch64-linux-gnu.cmake CACHE FILEPATH "")
set(CMAKE_BUILD_TYPE MinSizeRel CACHE STRING "")
set(CMAKE_UNITY_BUILD ON CACHE BOOL "")
set(IDLETUNE_DEVELOPER ON CACHE BOOL "")
