# cmake -C toolchains/fuzz.cmake: the fuzzers, with clang's libFuzzer and both memory sanitizers.
find_program(idletune_clang NAMES clang clang-14 clang-15 clang-16 REQUIRED)
find_program(idletune_clangxx NAMES clang++ clang++-14 clang++-15 clang++-16 REQUIRED)
set(CMAKE_C_COMPILER ${idletune_clang} CACHE FILEPATH "")
set(CMAKE_CXX_COMPILER ${idletune_clangxx} CACHE FILEPATH "")
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
# Assertions of ours are part of what a fuzzer looks for.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -gline-tables-only" CACHE STRING "")
set(CMAKE_UNITY_BUILD ON CACHE BOOL "")
set(IDLETUNE_FUZZ ON CACHE BOOL "")
set(IDLETUNE_SANITIZE address CACHE STRING "")
set(IDLETUNE_OPENCL OFF CACHE BOOL "")
