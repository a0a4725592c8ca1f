// Calls what was compiled in many ways, under callgrind: see `record`. usage: compiled_calls FOLDER
// COUNT. Of FOLDER/0.so to FOLDER/COUNT-1.so a line each: its number and what came out.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "recorded_calls.hpp"

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    const std::string label = std::to_string(i);
    void* library = dlopen((argv[1] + ('/' + label) + ".so").c_str(), RTLD_NOW);
    if (library == nullptr) continue;
    const auto prepare = reinterpret_cast<void (*)()>(dlsym(library, "prepare"));
    const auto work = reinterpret_cast<void (*)(float*)>(dlsym(library, "work"));
    float out[4] = {};
    prepare();
    idletune::bench::count_instructions(label.c_str(), [&] { work(out); });
    std::printf("%s %.9g %.9g %.9g %.9g\n", label.c_str(), static_cast<double>(out[0]),
                static_cast<double>(out[1]), static_cast<double>(out[2]),
                static_cast<double>(out[3]));
    dlclose(library);
  }
}
