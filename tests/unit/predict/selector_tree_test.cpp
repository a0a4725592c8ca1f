#include "models/predict/selector_tree.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "models/core/random.hpp"

using namespace idletune;

namespace {

// Two candidates over shapes of one number; `second` says where the second one is the faster.
template <class Second>
selector::Lesson lesson_of(std::size_t count, const Second& second) {
  selector::Lesson lesson;
  lesson.inputs = 1;
  lesson.candidates = {0, 1};
  for (std::size_t i = 0; i < count; ++i) {
    const bool better = second(i);
    lesson.shapes.push_back({static_cast<double>(i + 1)});
    lesson.weights.push_back(1);
    lesson.devices.push_back(0);
    lesson.q.push_back({better ? 0.5f : 1.0f, better ? 1.0f : 0.5f});
  }
  selector::set_features(lesson);
  return lesson;
}

// Whether a whole tree was chosen, and not one leaf for all.
bool chooses_a_tree(const selector::Lesson& lesson) {
  selector::Rows rows(lesson.rows());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const selector::Recipe recipes[] = {{learners::kMaxTreeHeight, 1, false}, {1, 1000, false}};
  return selector::choose_recipe(lesson, rows, {0, 1}, recipes).leaf == 1;
}

}  // namespace

TEST_CASE("a tree is as high as what it was not grown from asks for") {
  CHECK(chooses_a_tree(lesson_of(200, [](std::size_t i) { return i / 50 % 2 == 1; })));
  Random random(7);
  CHECK_FALSE(chooses_a_tree(lesson_of(200, [&](std::size_t) { return random.below(4) == 0; })));
}

TEST_CASE("a tree's limits are chosen as if every device had as many rows") {
  // On the first device a tree is misled by every fourth row; on the second, of few, it is right.
  auto lesson = lesson_of(48, [](std::size_t i) { return i < 40 ? i % 4 == 0 : i >= 44; });
  CHECK_FALSE(chooses_a_tree(lesson));
  for (std::size_t i = 0; i < 48; ++i) {
    lesson.devices[i] = i < 40 ? 0 : 1;
    lesson.weights[i] = i < 40 ? 1.0 / 40 : 1.0 / 8;
  }
  CHECK(chooses_a_tree(lesson));
}
