# cmake -C toolchains/aarch64.cmake: boards with a 64-bit Arm Linux. -DIDLETUNE_SYSROOT=FOLDER names a
# copy of the board's headers and libraries; without it, what is built runs where the C library is at
# least as new as this machine's. On such a board itself, its own compiler is used.
cmake_host_system_information(RESULT idletune_platform QUERY OS_PLATFORM)
if(NOT idletune_platform STREQUAL "aarch64")
  set(idletune_toolchain aarch64-linux-gnu.cmake)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/board.cmake)
