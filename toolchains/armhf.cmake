# cmake -C toolchains/armhf.cmake: boards with a 32-bit Arm Linux; tests run under qemu.
set(CMAKE_TOOLCHAIN_FILE ${CMAKE_CURRENT_LIST_DIR}/arm-linux-gnueabihf.cmake CACHE FILEPATH "")
set(CMAKE_BUILD_TYPE MinSizeRel CACHE STRING "")
set(CMAKE_UNITY_BUILD ON CACHE BOOL "")
set(IDLETUNE_DEVELOPER ON CACHE BOOL "")
