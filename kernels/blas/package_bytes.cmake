# Writes PACKAGE, a file, as the C++ source OUTPUT, which defines FUNCTION: cmake -DPACKAGE=...
# -DFUNCTION=... -DOUTPUT=... -P this
file(READ ${PACKAGE} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "#include <cstdint>
#include \"kernels/blas/package_bytes.hpp\"
namespace idletune::gemm {
Bytes ${FUNCTION}() {
  alignas(16) static constexpr std::uint8_t kBytes[] = {${bytes}};
  return {kBytes, sizeof kBytes};
}
}  // namespace idletune::gemm
")
