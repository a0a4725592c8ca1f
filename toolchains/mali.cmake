# cmake -C toolchains/mali.cmake: 64-bit Arm boards with a Mali or another GPU that speaks OpenCL
# (toolchains/README.md). -DIDLETUNE_SYSROOT=FOLDER as for aarch64.cmake.
set(idletune_board mali)
include(${CMAKE_CURRENT_LIST_DIR}/aarch64.cmake)
set(IDLETUNE_CUDA OFF CACHE BOOL "")
