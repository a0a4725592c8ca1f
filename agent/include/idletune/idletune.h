/* idletune for C and for whatever can call C. Handles are opaque; every function that can fail
 * returns an idletune_status and leaves a message for the calling thread. No function but those
 * named launch, idle and call is meant for hot paths. Link libidletune.a, libstdc++ (static is
 * fine), pthread and dl. */
#ifndef IDLETUNE_H
#define IDLETUNE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The same codes and order as idletune::StatusCode. */
typedef enum idletune_status {
  IDLETUNE_OK = 0,
  IDLETUNE_INVALID_ARGUMENT,
  IDLETUNE_NOT_FOUND,
  IDLETUNE_CORRUPT,
  IDLETUNE_VERSION_MISMATCH,
  IDLETUNE_UNSUPPORTED,
  IDLETUNE_IO_ERROR,
  IDLETUNE_NO_SPACE,
  IDLETUNE_READ_ONLY,
  IDLETUNE_OUT_OF_MEMORY,
  IDLETUNE_BUSY,
  IDLETUNE_TIMEOUT,
  IDLETUNE_DEVICE_ERROR,
  IDLETUNE_COMPILE_ERROR,
  IDLETUNE_INTERNAL,
  IDLETUNE_UNTRUSTED
} idletune_status;

/* "ok", "not_found", ...; never NULL. */
const char* idletune_status_name(idletune_status status);
/* One line about the calling thread's last failure; "" before any. Valid until its next call. */
const char* idletune_last_message(void);

typedef struct idletune_agent idletune_agent;
typedef struct idletune_device idletune_device;
typedef struct idletune_kernel idletune_kernel;
typedef struct idletune_tuner idletune_tuner;
typedef struct idletune_calls idletune_calls;

/* --- devices; must outlive the agents that use them --- */
/* The application's cl_context, cl_device_id, cl_command_queue (retained). */
idletune_status idletune_opencl_adopt(void* context, void* device_id, void* queue,
                                      idletune_device** device);
/* The OpenCL device at `index`, with a context and queues of its own. */
idletune_status idletune_opencl_open(uint32_t index, idletune_device** device);
/* Handles of an OpenCL device; not retained for the caller. Any pointer may be NULL. */
void idletune_opencl_handles(idletune_device* device, void** context, void** device_id,
                             void** queue);
/* The application's CUcontext (NULL: the stream's, or the calling thread's current one) and
 * CUstream or cudaStream_t (NULL: the default stream); both must outlive the device. */
idletune_status idletune_cuda_adopt(void* context, void* stream, idletune_device** device);
/* The CUDA device at `index`, in its primary context, with streams of its own. */
idletune_status idletune_cuda_open(uint32_t index, idletune_device** device);
/* Handles of a CUDA device; not retained for the caller. Either pointer may be NULL. */
void idletune_cuda_handles(idletune_device* device, void** context, void** stream);
void idletune_device_close(idletune_device* device);

/* --- agent --- */
/* `model` is the path of an .itmodel; NULL: the shipped one, if it is installed; "-": none. `state`
 * is the folder of the journal; NULL: everything stays in memory. All other options have the
 * defaults of idletune::AgentOptions. The IDLETUNE_* environment variables override them. */
idletune_status idletune_open(const char* model, const char* state, idletune_agent** agent);

/* What a program contains only if it names the function that makes it. NULL: none of it. */
typedef struct idletune_learner idletune_learner;
typedef struct idletune_trust idletune_trust;
typedef struct idletune_slots idletune_slots;
typedef struct idletune_events idletune_events;

/* For idletune_open_with, which does as idletune_open. What is named must outlive the agent. */
typedef struct idletune_options {
  const char* model;
  const char* state;
  const idletune_learner* learner;
  const idletune_trust* trust;
  const idletune_slots* slots;
  idletune_events* events;
} idletune_options;
idletune_status idletune_open_with(const idletune_options* options, idletune_agent** agent);

/* It learns from what is measured while searching (idletune/learning.hpp). */
const idletune_learner* idletune_forest_learner(void);
/* It also learns anew, of what this board measures, what to try first at other problems. */
const idletune_learner* idletune_forest_and_tree_learner(void);

/* Models and packages that are read from files are believed only if one of these keys has signed
 * them for that product (idletune/signing.hpp). `keys` are texts in PEM. Link
 * libidletune_signing.a and libbearssl.a. */
idletune_status idletune_signed_files(const char* const* keys, size_t key_count,
                                      const char* product, const idletune_trust** trust);
void idletune_trust_close(const idletune_trust* trust);

/* Keeps and tries models that are pushed (idletune/slots.hpp). */
const idletune_slots* idletune_model_slots(void);

/* The same kinds and order as idletune::EventKind (idletune/events.hpp has what they mean). */
typedef enum idletune_event_kind {
  IDLETUNE_TRIAL_BEGUN = 0,
  IDLETUNE_TRIAL_ENDED,
  IDLETUNE_ADOPTED,
  IDLETUNE_DEMOTED,
  IDLETUNE_SUSPECTED,
  IDLETUNE_QUARANTINED,
  IDLETUNE_WRONG,
  IDLETUNE_MODEL,
  IDLETUNE_STORAGE,
  IDLETUNE_MISSED
} idletune_event_kind;
/* Texts and arrays are valid until the callback returns; texts are never NULL. */
typedef struct idletune_event {
  idletune_event_kind kind;
  const char* kernel;
  const char* device;
  const int64_t* dimensions;
  size_t dimension_count;
  const int64_t* configuration;
  size_t parameter_count;
  int64_t time_ns;         /* 0: unknown */
  int64_t default_time_ns; /* 0: unknown */
  uint64_t count;
  const char* text; /* all of it in one line */
} idletune_event;
/* `callback` may be called by every thread that tunes, by one at a time; it must not call the
 * agent. `context` is handed to it. */
idletune_status idletune_tell_events(void (*callback)(void* context, const idletune_event* event),
                                     void* context, idletune_events** events);
void idletune_events_close(idletune_events* events);

/* Stops background tuning, marks a clean shutdown, frees the agent's kernels. NULL is fine. */
void idletune_close(idletune_agent* agent);

/* Takes over the model in the file; NULL: the file of idletune_open or IDLETUNE_MODEL. All that was
 * measured is kept, and launches never wait. A file that is refused changes nothing. */
idletune_status idletune_reload_model(idletune_agent* agent, const char* path);
/* Goes back to the model before. IDLETUNE_NOT_FOUND: there is none. `why` may be NULL. */
idletune_status idletune_reject_model(idletune_agent* agent, const char* why);
/* The model on trial stays (idletune/slots.hpp). IDLETUNE_NOT_FOUND: none is on trial. */
idletune_status idletune_confirm_model(idletune_agent* agent);

/* Blocks: builds the default and what was adopted earlier, and launches what will run once on
 * buffers of its own, so that no first frame waits for the driver's code (details: Agent::kernel
 * in agent.hpp). The kernel belongs to the agent. */
idletune_status idletune_load_kernel(idletune_agent* agent, idletune_device* device,
                                     const char* package_path, idletune_kernel** kernel);

typedef enum idletune_argument_kind {
  IDLETUNE_BUFFER = 0, /* .buffer: cl_mem, or CUDA's device pointer */
  IDLETUNE_I32,
  IDLETUNE_U32,
  IDLETUNE_I64,
  IDLETUNE_U64,
  IDLETUNE_F32,
  IDLETUNE_F64,
  IDLETUNE_I8,
  IDLETUNE_U8,
  IDLETUNE_I16,
  IDLETUNE_U16,
  IDLETUNE_F16 /* .f16: the bits of an IEEE 754 binary16 */
} idletune_argument_kind;

typedef struct idletune_argument {
  idletune_argument_kind kind;
  union {
    void* buffer;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    uint16_t u16;
    uint16_t f16;
  } value;
} idletune_argument;

/* Enqueues the kernel for a problem size of `dimensions` numbers. `queue` NULL: the adopted one.
 * `wait_list` is an array of wait_count cl_events (CUevents) or NULL; `event` is a cl_event*
 * (CUevent*) that receives an event, which the caller releases, or NULL. Never compiles, allocates,
 * reads a file or waits for tuning. */
idletune_status idletune_launch(idletune_kernel* kernel, const int64_t* shape, size_t dimensions,
                                const idletune_argument* arguments, size_t argument_count,
                                void* queue, const void* const* wait_list, uint32_t wait_count,
                                void* event);
/* A problem: dimensions and, where the package declares features that the application gives, those,
 * in its order. features may be NULL if feature_count is 0. */
typedef struct idletune_problem {
  const int64_t* dimensions;
  size_t dimension_count;
  const double* features;
  size_t feature_count;
} idletune_problem;
/* The same for a problem with features, of which functions that take dimensions alone answer
 * IDLETUNE_INVALID_ARGUMENT. */
idletune_status idletune_launch_problem(idletune_kernel* kernel, const idletune_problem* problem,
                                        const idletune_argument* arguments, size_t argument_count,
                                        void* queue, const void* const* wait_list,
                                        uint32_t wait_count, void* event);
idletune_status idletune_prepare_problem(idletune_kernel* kernel, const idletune_problem* problem);
idletune_status idletune_expect_launches_problem(idletune_kernel* kernel,
                                                 const idletune_problem* problem, double launches);
idletune_status idletune_constants_changed_problem(idletune_kernel* kernel,
                                                   const idletune_problem* problem);

/* Makes the shape ready before its first launch, which then takes no longer than the others.
 * Blocks; seconds where nothing is compiled yet. IDLETUNE_OUT_OF_MEMORY: also where
 * idletune::AgentOptions::max_shapes is reached, beyond which launches work all the same. */
idletune_status idletune_prepare(idletune_kernel* kernel, const int64_t* shape, size_t dimensions);

/* Says how many launches of the shape are still to come. Waits for nothing. */
idletune_status idletune_expect_launches(idletune_kernel* kernel, const int64_t* shape,
                                         size_t dimensions, double launches);
/* Says that what constant buffers hold has changed since the shape's last launch; see
 * idletune::TunedKernel::constants_changed. Waits for nothing. */
idletune_status idletune_constants_changed(idletune_kernel* kernel, const int64_t* shape,
                                           size_t dimensions);

/* Lends what the package's captured buffers hold, for tuning the problem on real data; see
 * idletune::TunedKernel::capture. Blocks until they are copied. */
idletune_status idletune_capture(idletune_kernel* kernel, const idletune_problem* problem,
                                 const idletune_argument* arguments, size_t argument_count);

/* Tunes for at most `budget_ns`, now; returns the nanoseconds used. */
int64_t idletune_idle(idletune_agent* agent, int64_t budget_ns);
/* Shares in 0..1, see idletune::BackgroundOptions. Under IDLETUNE_MODE=off or cached nothing is
 * started, which is no failure. */
idletune_status idletune_start_background(idletune_agent* agent, double max_duty,
                                          double min_battery);
void idletune_stop_background(idletune_agent* agent);

/* Decision and state as JSON. Free it with idletune_free. NULL when memory is short. */
char* idletune_explain(idletune_agent* agent);
void idletune_free(void* text);

/* --- ask/tell --- */
/* A space without constraints: parameter i has the name names[i] and the value_counts[i] values
 * that follow those of the parameters before it in `values`. `seed`: 0 draws other configurations
 * on every board, see idletune::AgentOptions. */
idletune_status idletune_tuner_open(const char* name, const char* const* names,
                                    const size_t* value_counts, const int64_t* values,
                                    size_t parameter_count, uint64_t seed, idletune_tuner** tuner);
void idletune_tuner_close(idletune_tuner* tuner);
/* The next configuration into configuration[parameter_count]; IDLETUNE_NOT_FOUND when there is
 * none. */
idletune_status idletune_tuner_ask(idletune_tuner* tuner, int64_t* configuration);
/* What the configuration took; run_time_ns <= 0: it failed. Error: invalid_argument (it is not in
 * the space). */
idletune_status idletune_tuner_tell(idletune_tuner* tuner, const int64_t* configuration,
                                    int64_t run_time_ns);
/* The best so far into configuration; returns its time in ns, 0 before any. */
int64_t idletune_tuner_best(const idletune_tuner* tuner, int64_t* configuration);

/* --- calls of the application's own, tuned while they are made --- */
/* See <idletune/calls.hpp>, whose rules and errors hold. Any number of threads. */
#define IDLETUNE_MAX_PARAMETERS 32

typedef struct idletune_call_description {
  const char* name;
  /* As for idletune_tuner_open; first values are the default. */
  const char* const* parameter_names;
  const size_t* value_counts;
  const int64_t* values;
  size_t parameter_count;
  const char* const* dimension_names; /* NULL: none */
  size_t dimension_count;
  const char* const* feature_names; /* NULL: none */
  size_t feature_count;
  const char* runs_on; /* NULL: "host" */
  double max_slowdown; /* 0: 0.05 */
} idletune_call_description;

/* The handle is the caller's, and of no use without the agent. */
idletune_status idletune_calls_open(idletune_agent* agent,
                                    const idletune_call_description* description,
                                    idletune_calls** calls);
void idletune_calls_close(idletune_calls* calls); /* NULL is fine */

typedef struct idletune_call {
  uint64_t number;
  int64_t configuration[IDLETUNE_MAX_PARAMETERS];
} idletune_call;
typedef enum idletune_ended { /* how a call did; failures must be the configuration's doing */
                              IDLETUNE_ENDED_CORRECT = 0,
                              IDLETUNE_ENDED_FAILED = 2,
                              IDLETUNE_ENDED_WRONG = 3,
                              IDLETUNE_ENDED_TIMEOUT = 4,
                              IDLETUNE_ENDED_CRASH = 6
} idletune_ended;

/* `problem` may be NULL where the description has neither dimensions nor features. */
idletune_status idletune_call_begin(idletune_calls* calls, const idletune_problem* problem,
                                    idletune_call* call);
idletune_status idletune_call_end(idletune_calls* calls, const idletune_problem* problem,
                                  const idletune_call* call, idletune_ended ended,
                                  int64_t run_time_ns);

#ifdef __cplusplus
}
#endif
#endif /* IDLETUNE_H */
