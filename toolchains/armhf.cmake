# cmake -C toolchains/armhf.cmake: boards with a 32-bit Arm Linux. -DIDLETUNE_SYSROOT=FOLDER names a
# copy of the board's headers and libraries; without it, what is built runs where the C library is at
# least as new as this machine's. On such a board itself, its own compiler is used.
cmake_host_system_information(RESULT idletune_platform QUERY OS_PLATFORM)
if(NOT idletune_platform MATCHES "^armv")
  set(idletune_toolchain arm-linux-gnueabihf.cmake)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/board.cmake)
