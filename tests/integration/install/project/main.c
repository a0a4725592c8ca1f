/* The same in C: a tuner for something that is no GPU kernel, and an agent that keeps nothing. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <idletune/idletune.h>

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, idletune_last_message());
  return EXIT_FAILURE;
}

/* Pretends that a block of 32 with 4 threads is best. */
static int64_t pretend_run_ns(int64_t block, int64_t threads) {
  return 100000 + 1000 * llabs(block - 32) + 10000 * llabs(threads - 4);
}

static int tune_something(void) {
  const char* const names[] = {"BLOCK", "THREADS"};
  const size_t value_counts[] = {4, 4};
  const int64_t values[] = {8, 16, 32, 64, 1, 2, 4, 8};
  int64_t configuration[2];
  int asked = 0;
  idletune_tuner* tuner = NULL;
  if (idletune_tuner_open("outside", names, value_counts, values, 2, 1, &tuner) != IDLETUNE_OK) {
    return fail("idletune_tuner_open");
  }
  while (idletune_tuner_ask(tuner, configuration) == IDLETUNE_OK) {
    ++asked;
    idletune_tuner_tell(tuner, configuration, pretend_run_ns(configuration[0], configuration[1]));
  }
  const int64_t best_ns = idletune_tuner_best(tuner, configuration);
  idletune_tuner_close(tuner);
  printf("%d configurations, best %d x %d\n", asked, (int)configuration[0], (int)configuration[1]);
  return asked == 16 && best_ns == 100000 && configuration[0] == 32 && configuration[1] == 4
             ? EXIT_SUCCESS
             : EXIT_FAILURE;
}

/* Two settings of a call of its own, told while it is made. */
static int tune_calls(idletune_agent* agent) {
  const char* const names[] = {"BLOCK", "THREADS"};
  const size_t value_counts[] = {4, 2};
  const int64_t values[] = {8, 16, 32, 64, 1, 4};
  const char* const dimension = "KIND";
  const int64_t kind = 3;
  const idletune_problem problem = {&kind, 1, NULL, 0};
  idletune_call_description description = {0};
  description.name = "outside";
  description.parameter_names = names;
  description.value_counts = value_counts;
  description.values = values;
  description.parameter_count = 2;
  description.dimension_names = &dimension;
  description.dimension_count = 1;
  idletune_calls* calls = NULL;
  if (idletune_calls_open(agent, &description, &calls) != IDLETUNE_OK) {
    return fail("idletune_calls_open");
  }
  idletune_call call = {0};
  for (int i = 0; i < 20; ++i) {
    if (idletune_call_begin(calls, &problem, &call) != IDLETUNE_OK) return fail("begin");
    const int64_t took = pretend_run_ns(call.configuration[0], call.configuration[1]);
    if (idletune_call_end(calls, &problem, &call, IDLETUNE_ENDED_CORRECT, took) != IDLETUNE_OK) {
      return fail("end");
    }
    (void)idletune_idle(agent, 1000000);
  }
  const int twice = idletune_call_end(calls, &problem, &call, IDLETUNE_ENDED_CORRECT, 1);
  idletune_calls_close(calls);
  return twice == IDLETUNE_INVALID_ARGUMENT ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void count_event(void* context, const idletune_event* event) {
  if (event->text[0] != '\0') ++*(int*)context;
}

static int run_an_agent(void) {
  idletune_agent* agent = NULL;
  idletune_options options = {0};
  int told = 0;
  if (idletune_tell_events(count_event, &told, &options.events) != IDLETUNE_OK) {
    return fail("idletune_tell_events");
  }
  options.learner = idletune_forest_learner();
  options.slots = idletune_model_slots();
  if (idletune_open_with(&options, &agent) != IDLETUNE_OK) return fail("idletune_open_with");
  if (tune_calls(agent) != EXIT_SUCCESS) return EXIT_FAILURE;
  const int64_t used_ns = idletune_idle(agent, 1000000);
  char* explanation = idletune_explain(agent);
  const int explained = explanation != NULL && explanation[0] == '{';
  idletune_free(explanation);
  idletune_close(agent);
  idletune_events_close(options.events);
  return used_ns >= 0 && explained && told > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int misuse_is_told(void) {
  idletune_device* device = NULL;
  if (idletune_opencl_open(1000, &device) == IDLETUNE_OK) return EXIT_FAILURE;
  return idletune_last_message()[0] != '\0' ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(void) {
  if (tune_something() != EXIT_SUCCESS) return EXIT_FAILURE;
  if (run_an_agent() != EXIT_SUCCESS) return EXIT_FAILURE;
  return misuse_is_told();
}
