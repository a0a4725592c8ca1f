# What the configurations for boards have in common. They set <idletune_toolchain>, empty on such a board.
if(idletune_toolchain)
  if(CMAKE_CXX_COMPILER AND NOT CMAKE_TOOLCHAIN_FILE)
    message(FATAL_ERROR "This folder was configured for this machine, and its compiler stays: build for "
      "a board in a folder of its own, as in -B build/aarch64")
  endif()
  set(CMAKE_TOOLCHAIN_FILE ${CMAKE_CURRENT_LIST_DIR}/${idletune_toolchain} CACHE FILEPATH "")
endif()
set(CMAKE_BUILD_TYPE MinSizeRel CACHE STRING "")
set(CMAKE_UNITY_BUILD ON CACHE BOOL "")
set(IDLETUNE_BUILD_HOST OFF CACHE BOOL "")
set(IDLETUNE_SYSROOT "" CACHE PATH "Headers and libraries of the board; empty: this machine's")
