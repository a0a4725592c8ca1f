# CMake toolchain file: Debian's cross compiler for 32-bit Arm with hardware floating point.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(CMAKE_C_COMPILER arm-linux-gnueabihf-gcc)
set(CMAKE_CXX_COMPILER arm-linux-gnueabihf-g++)
set(idletune_triplet arm-linux-gnueabihf)
include(${CMAKE_CURRENT_LIST_DIR}/with_sysroot.cmake)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-arm -L ${idletune_target_root})
