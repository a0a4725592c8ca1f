// Where the test tests/unit/interleavings lets another thread go on in the midst of launches, which
// it compiles with IDLETUNE_YIELDS. Elsewhere these are nothing.
#pragma once

#if defined(IDLETUNE_YIELDS)
namespace idletune::detail {

// Mistakes that were made once. The test makes them again, to see that it finds them.
enum class Seeded { nothing, ready_before_listed, stamps_not_compared };

void yield_at(const char* point);
void require_that(bool holds, const char* what);
bool is_seeded(Seeded mistake);

}  // namespace idletune::detail

#define IDLETUNE_YIELD(point) ::idletune::detail::yield_at(point)
#define IDLETUNE_HOLDS(condition) ::idletune::detail::require_that(condition, #condition)
#define IDLETUNE_SEEDED(mistake) ::idletune::detail::is_seeded(::idletune::detail::Seeded::mistake)
#else
#define IDLETUNE_YIELD(point) ((void)0)
#define IDLETUNE_HOLDS(condition) ((void)0)
#define IDLETUNE_SEEDED(mistake) false
#endif
