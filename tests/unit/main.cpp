#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "tests/unit/skip.hpp"

namespace {

constexpr int kSkipped = 77;
bool skipped = false;

}  // namespace

void idletune::test::skip(const std::string& reason) {
  std::printf("skipped: %s\n", reason.c_str());
  skipped = true;
}

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int status = context.run();
  return status == 0 && skipped ? kSkipped : status;
}
