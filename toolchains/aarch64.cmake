# cmake -C toolchains/aarch64.cmake: boards with a 64-bit Arm Linux. -DIDLETUNE_SYSROOT=FOLDER names a
# copy of the board's headers and libraries; without it, what is built runs where the C library is at
# least as new as this machine's. On such a board itself, its own compiler is used.
cmake_host_system_information(RESULT idletune_platform QUERY OS_PLATFORM)
if(NOT idletune_platform STREQUAL "aarch64")
  set(CMAKE_TOOLCHAIN_FILE ${CMAKE_CURRENT_LIST_DIR}/aarch64-linux-gnu.cmake CACHE FILEPATH "")
endif()
set(CMAKE_BUILD_TYPE MinSizeRel CACHE STRING "")
set(CMAKE_UNITY_BUILD ON CACHE BOOL "")
set(IDLETUNE_BUILD_HOST OFF CACHE BOOL "")
set(IDLETUNE_SYSROOT "" CACHE PATH "Headers and libraries of the board; empty: this machine's")
