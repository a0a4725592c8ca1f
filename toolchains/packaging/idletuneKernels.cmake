# idletune_add_kernel(<target> <description.xml>...)
#
# Packs kernels with the command `idletune` when <target>, an executable or a shared library of the
# same folder, is built. NAME.xml becomes NAME.itkernel beside the target's file, again whenever the
# description or one of its sources has changed. The target's property IDLETUNE_KERNELS lists the
# packages, for install(FILES "$<TARGET_PROPERTY:app,IDLETUNE_KERNELS>" ...). A description may be
# that of a family.
function(idletune_add_kernel target)
  get_target_property(type ${target} TYPE)
  if(NOT type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)$")
    message(FATAL_ERROR "idletune_add_kernel: '${target}' is of type ${type}; "
      "expected an executable or a shared library")
  endif()
  if(TARGET idletune::command)
    set(command idletune::command)
    set(packer ${command})
  else()
    find_program(IDLETUNE_COMMAND NAMES idletune)
    if(NOT IDLETUNE_COMMAND)
      message(FATAL_ERROR "idletune_add_kernel: the command idletune was not found. This "
        "installation has none (it was built without the host side, for a board?): install one for "
        "the machine that builds, or set IDLETUNE_COMMAND to its path")
    endif()
    set(command ${IDLETUNE_COMMAND})
    get_filename_component(packer "${command}" PROGRAM)
  endif()
  foreach(description IN LISTS ARGN)
    get_filename_component(description "${description}" ABSOLUTE)
    get_filename_component(name "${description}" NAME_WLE)
    if(NOT EXISTS "${description}")
      message(FATAL_ERROR "idletune_add_kernel: there is no '${description}'")
    endif()
    set(sources)
    idletune_described_files("${description}" sources)
    set(package "${CMAKE_CURRENT_BINARY_DIR}/idletune/${target}/${name}.itkernel")
    file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/idletune/${target}")
    add_custom_command(
      OUTPUT "${package}"
      COMMAND ${command} pack "${description}" -o "${package}"
      DEPENDS "${description}" ${sources} ${packer}
      COMMENT "Packing ${name}.itkernel"
      VERBATIM)
    add_custom_target(${target}_kernel_${name} DEPENDS "${package}")
    add_dependencies(${target} ${target}_kernel_${name})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${package}")
    set_property(TARGET ${target} APPEND PROPERTY IDLETUNE_KERNELS "${package}")
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E copy_if_different "${package}" "$<TARGET_FILE_DIR:${target}>"
      VERBATIM)
  endforeach()
endfunction()

# The files that a description names, and those that they name, so that a change of one packs again:
# appended to the list <files>.
function(idletune_described_files description files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${description}")
  get_filename_component(folder "${description}" DIRECTORY)
  file(READ "${description}" text)
  string(REGEX REPLACE "<!--([^-]*-[^-])*[^-]*-->" "" text "${text}")
  set(value "\"([^\"]*)\"|'([^']*)'")
  string(REGEX MATCHALL "<(source|member)([^\"'>]*(${value}))*" elements "${text}")
  foreach(element IN LISTS elements)
    if(NOT element MATCHES "[ \t\r\n]file=(${value})")
      continue()
    endif()
    get_filename_component(file "${CMAKE_MATCH_2}${CMAKE_MATCH_3}" ABSOLUTE BASE_DIR "${folder}")
    list(APPEND ${files} "${file}")
    if(element MATCHES "^<member" AND EXISTS "${file}")
      idletune_described_files("${file}" ${files})
    endif()
  endforeach()
  set(${files} "${${files}}" PARENT_SCOPE)
endfunction()
