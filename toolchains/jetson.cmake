# cmake -C toolchains/jetson.cmake: NVIDIA Jetson (toolchains/README.md). CUDA only; JetPack has no
# OpenCL. -DIDLETUNE_SYSROOT=FOLDER as for aarch64.cmake.
set(idletune_board jetson)
include(${CMAKE_CURRENT_LIST_DIR}/aarch64.cmake)
set(IDLETUNE_OPENCL OFF CACHE BOOL "")
