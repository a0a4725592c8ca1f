# For the toolchain files here: compile and link against the headers and libraries of the folder
# IDLETUNE_SYSROOT, a copy of a board's own (toolchains/sysroot makes one), with the cross compiler of
# this machine. What comes out then needs no newer C library than the board has.
#
# Debian's cross compilers look into their own folders before the sysroot, so that all is named.
function(idletune_use_sysroot triplet compiler)
  file(GLOB versions LIST_DIRECTORIES true "${IDLETUNE_SYSROOT}/usr/include/c++/*")
  set(newest 0)
  foreach(folder IN LISTS versions)
    get_filename_component(version ${folder} NAME)
    if(IS_DIRECTORY ${IDLETUNE_SYSROOT}/usr/lib/gcc/${triplet}/${version}
       AND version VERSION_GREATER newest)
      set(newest ${version})
    endif()
  endforeach()
  if(newest EQUAL 0 OR NOT EXISTS ${IDLETUNE_SYSROOT}/usr/lib/${triplet}/crt1.o)
    message(FATAL_ERROR "IDLETUNE_SYSROOT is '${IDLETUNE_SYSROOT}'; expected a folder with "
      "usr/include/c++/N, usr/lib/gcc/${triplet}/N and usr/lib/${triplet}/crt1.o. Install libc6-dev "
      "and libstdc++-N-dev on the board and copy again, or use toolchains/sysroot")
  endif()
  execute_process(COMMAND ${compiler} -print-file-name=include
                  OUTPUT_VARIABLE own_headers OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(headers ${IDLETUNE_SYSROOT}/usr/include)
  set(libraries ${IDLETUNE_SYSROOT}/usr/lib/${triplet})
  set(c "-nostdinc -isystem ${own_headers} -isystem ${headers}/${triplet} -isystem ${headers}")
  set(cxx "-nostdinc++ -isystem ${headers}/c++/${newest} -isystem ${headers}/${triplet}/c++/${newest}")
  set(link "-B${libraries}")
  foreach(folder usr/lib/gcc/${triplet}/${newest} lib/${triplet} usr/lib/${triplet})
    set(folder ${IDLETUNE_SYSROOT}/${folder})
    string(APPEND link " -L${folder} -Wl,-rpath-link,${folder}")
  endforeach()
  if(triplet MATCHES "^aarch64" AND newest VERSION_LESS 10)
    # Calls of atomic operations that libgcc has from version 10 on.
    string(APPEND c " -mno-outline-atomics")
  endif()
  if(newest VERSION_LESS 12)
    # Newer compilers warn of the older std::function.
    string(APPEND cxx " -Wno-uninitialized -Wno-maybe-uninitialized")
  endif()
  set(CMAKE_C_FLAGS_INIT "${c}" PARENT_SCOPE)
  set(CMAKE_CXX_FLAGS_INIT "${cxx} ${c}" PARENT_SCOPE)
  set(CMAKE_EXE_LINKER_FLAGS_INIT "${link}" PARENT_SCOPE)
  set(CMAKE_SHARED_LINKER_FLAGS_INIT "${link}" PARENT_SCOPE)
  set(CMAKE_MODULE_LINKER_FLAGS_INIT "${link}" PARENT_SCOPE)
endfunction()

# What CMake tries out must be tried with the same folder.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES IDLETUNE_SYSROOT)
if(IDLETUNE_SYSROOT)
  get_filename_component(IDLETUNE_SYSROOT "${IDLETUNE_SYSROOT}" ABSOLUTE)
  set(CMAKE_SYSROOT ${IDLETUNE_SYSROOT})
  idletune_use_sysroot(${idletune_triplet} ${CMAKE_CXX_COMPILER})
  set(idletune_target_root ${IDLETUNE_SYSROOT})
else()
  set(idletune_target_root /usr/${idletune_triplet})
endif()
# Libraries come from the target's own folders; the dependencies of the device side are headers.
set(CMAKE_FIND_ROOT_PATH ${idletune_target_root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
