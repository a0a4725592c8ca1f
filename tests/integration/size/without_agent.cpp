// The program that with_agent.cpp is compared with: the same use of the C++ library, no agent.
#include <string>
#include <vector>

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv, argv + argc);
  std::string text;
  for (const auto& argument : arguments) text += argument;
  return static_cast<int>(text.size() & 1u);
}
