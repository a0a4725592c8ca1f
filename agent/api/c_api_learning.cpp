// Apart from c_api.cpp, so that only programs which name the learner link it.
#include <idletune/idletune.h>
#include <idletune/learning.hpp>

extern "C" const idletune_learner* idletune_forest_learner(void) {
  return reinterpret_cast<const idletune_learner*>(idletune::forest_learner());
}
