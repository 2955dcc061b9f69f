// Outwatch for proxy cores in C and whatever calls C.
//
// Threads: a monitor has one thread of its own, and calls back on that alone, one call at a
// time. A callback must return at once and never throw. The functions here may be called on
// any thread, in a callback too; those that wait for the library's thread say so, and answer
// OUTWATCH_CODE_WOULD_DEADLOCK there.
//
// Memory: texts are UTF-8 and end with a NUL. What one side hands the other stays its own
// and is good until the call returns. Only what comes back through a `char **` is the
// caller's, to be given to outwatch_text_free; `message` may be NULL, and is set to NULL
// when all went well. A handle is freed once, when no other call uses it.
//
// docs/EMBEDDING.md goes through it step by step.


#ifndef OUTWATCH_H
#define OUTWATCH_H

// Made from the crate outwatch-c; see capi/tests/header.rs.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// `selected`: streams.
#define OUTWATCH_TCP 0

// `selected`: datagrams.
#define OUTWATCH_UDP 1

// `status`: it can be tested.
#define OUTWATCH_READY 0

// `status`: not yet.
#define OUTWATCH_NOT_READY 1

// `status`: not ever, in this core.
#define OUTWATCH_UNSUPPORTED 2

// What cannot go on.
#define OUTWATCH_ERROR 1

// What is doubtful.
#define OUTWATCH_WARN 2

// What happened.
#define OUTWATCH_INFO 3

// Why it happened.
#define OUTWATCH_DEBUG 4

// The view that groups choose by: the last finished results.
#define OUTWATCH_CONFIRMED 0

// The same plus misses and running tests: what people look at.
#define OUTWATCH_DISPLAY 1

// `outwatch_connection_failed`: the outbound's or its way's fault.
#define OUTWATCH_FAULT_OF_OUTBOUND 0

// `outwatch_connection_failed`: the destination's; ignored.
#define OUTWATCH_FAULT_OF_DESTINATION 1

// `outwatch_connection_failed`: the client's, who went away; ignored.
#define OUTWATCH_FAULT_OF_CLIENT 2

// `outwatch_subscribe`: all outbounds and groups; `tag` is NULL.
#define OUTWATCH_ALL 0

// `outwatch_subscribe`: one outbound or group.
#define OUTWATCH_TAG 1

// `outwatch_subscribe`: a group and all its members, nested ones too.
#define OUTWATCH_GROUP 2

// How a call went.
typedef enum outwatch_code {
  // It did what it was asked.
  OUTWATCH_CODE_OK = 0,
  // A pointer is NULL that must not be, a text is not UTF-8, or a number is none of
  // those listed.
  OUTWATCH_CODE_BAD_ARGUMENT = 1,
  // The monitoring options are wrong; the message has a line for each problem.
  OUTWATCH_CODE_BAD_OPTIONS = 2,
  // The list of outbounds is wrong.
  OUTWATCH_CODE_BAD_OUTBOUNDS = 3,
  // The component cannot be loaded, or failed while it started.
  OUTWATCH_CODE_BAD_COMPONENT = 4,
  // The cache file cannot be used: it is another process's, or of a newer version.
  OUTWATCH_CODE_BAD_CACHE = 5,
  // No outbound or group has this tag.
  OUTWATCH_CODE_UNKNOWN_TAG = 6,
  // An outbound of this kind is never tested.
  OUTWATCH_CODE_UNTESTABLE = 7,
  // It cannot be tested now; it will be, once it is ready.
  OUTWATCH_CODE_NOT_READY = 8,
  // The monitor has been stopped.
  OUTWATCH_CODE_STOPPED = 9,
  // The component failed again and again, and the monitor has ended.
  OUTWATCH_CODE_GAVE_UP = 10,
  // Nobody waits for this exchange any more: it was answered, canceled, or never was.
  OUTWATCH_CODE_NOT_WAITING = 11,
  // The call waits for the library's thread, and that is the caller's: it was called
  // from within a callback.
  OUTWATCH_CODE_WOULD_DEADLOCK = 12,
  // The library was built without what this needs.
  OUTWATCH_CODE_NOT_BUILT = 13,
  // The system refused something, such as a thread.
  OUTWATCH_CODE_SYSTEM = 14,
  // There is a fault in the library. Its handle can only be freed from now on.
  OUTWATCH_CODE_PANICKED = 15,
} outwatch_code;

// Takes the text that a callback answers with. It is only there within the callback.
typedef struct outwatch_answer_slot outwatch_answer_slot;

// Describes a monitor before it starts.
typedef struct outwatch_builder outwatch_builder;

// A running monitor. Its functions may be called on any thread, several at a time.
typedef struct outwatch_monitor outwatch_monitor;

// Where to dial.
typedef struct outwatch_dial {
  // Through which outbound.
  const char *tag;
  // A name, to be resolved as far away as the outbound allows, or an address.
  const char *host;
  // TCP port.
  uint16_t port;
  // Only addresses of this family are to be dialed: 4, 6, or 0 for any.
  uint32_t family;
  // Milliseconds after which nobody waits any more.
  uint32_t deadline_ms;
} outwatch_dial;

// One header of a request or a response.
typedef struct outwatch_header {
  // Its name.
  const char *name;
  // Its value.
  const char *value;
} outwatch_header;

// One HTTP exchange: no redirect is followed, no connection reused, no cookie sent.
typedef struct outwatch_request {
  // Through which outbound.
  const char *tag;
  // Absolute, `http` or `https`.
  const char *url;
  // The method's name, such as `HEAD`.
  const char *method;
  // To be sent as given, besides `host` and `connection`.
  const struct outwatch_header *headers;
  // How many there are.
  size_t header_count;
  // Lower-case names of the response headers wanted.
  const char *const *wanted;
  // How many there are.
  size_t wanted_count;
  // Bytes of body after which reading stops.
  uint32_t body_limit;
  // To be sent twice on one connection, and the second timed too (`repeat_us`).
  bool repeat;
  // Only addresses of this family are to be dialed: 4, 6, or 0 for any.
  uint32_t family;
  // Milliseconds after which nobody waits any more.
  uint32_t deadline_ms;
} outwatch_request;

// A proxy core: what the library asks of the host.
//
// Every function is called on the library's one thread, with `context` first, and must
// return at once: `list`, `selected` and `status` answer before they return, `dial` and
// `fetch` by a later call, from any thread. None of them may throw or unwind. What they
// are given is the library's and stays until they return.
typedef struct outwatch_core {
  // The host's own; only handed on.
  void *context;
  // Every outbound, endpoint and group, in the order of the config, by one call of
  // `outwatch_answer` with JSON text. An entry has `tag` and `type`, and may have `kind`
  // (`outbound`, which is the default; `endpoint`; `group`; `untestable`), `detour` (the
  // tag that it dials through), `members` (a group's tags), `networks` (of `tcp` and
  // `udp`; the default is `["tcp"]`), `fingerprint` (stands for its server: saved results
  // are taken over while it is equal; at most 128 bytes), and `exit_follows_host` (it
  // leaves with the address of the host's own network). Must not be NULL.
  void (*list)(void *context, struct outwatch_answer_slot *answer);
  // The member that a group leads to now for a network (`OUTWATCH_TCP`, `OUTWATCH_UDP`),
  // by `outwatch_answer`; without that call it has not chosen. NULL: no group has chosen.
  void (*selected)(void *context,
                   const char *group,
                   uint32_t network,
                   struct outwatch_answer_slot *answer);
  // Whether an outbound can be tested now: returns `OUTWATCH_READY`,
  // `OUTWATCH_NOT_READY` or `OUTWATCH_UNSUPPORTED`. Of the latter two,
  // `outwatch_answer` says why, for people. NULL: always ready.
  uint32_t (*status)(void *context, const char *tag, struct outwatch_answer_slot *answer);
  // Opens a TCP stream through an outbound and through no other, and answers by
  // `outwatch_connected` or `outwatch_failed`. NULL in a core that fetches.
  void (*dial)(void *context, uint64_t exchange, const struct outwatch_dial *dial);
  // Does one HTTP exchange through an outbound and through no other, and answers by
  // `outwatch_fetched` or `outwatch_failed`. NULL: the library does TLS and HTTP over
  // what `dial` opens.
  void (*fetch)(void *context, uint64_t exchange, const struct outwatch_request *request);
  // Nobody waits for an exchange any more: whatever was opened for it should be closed.
  // It needs no answer now; one that comes all the same is harmless. May be NULL.
  void (*cancel)(void *context, uint64_t exchange);
  // The last call of all, after `outwatch_free`: `context` is not used any more. May be
  // NULL.
  void (*released)(void *context);
} outwatch_core;

// The answer to an HTTP exchange.
typedef struct outwatch_response {
  // The HTTP status.
  uint16_t status;
  // The headers that were wanted, names in lower case. NULL if there is none.
  const struct outwatch_header *headers;
  // How many there are.
  size_t header_count;
  // The body, up to the limit that the request sets. NULL if it is empty.
  const uint8_t *body;
  // Its length in bytes.
  size_t body_length;
  // Microseconds that resolving the name took; 0 if not known.
  uint64_t dns_us;
  // Microseconds from the start until the stream was open; 0 if not known.
  uint64_t dial_us;
  // Microseconds of the TLS handshake; 0 if there was none.
  uint64_t tls_us;
  // Microseconds from before the dial until the response headers: the delay. 0 has the
  // library take the time from its request to this answer.
  uint64_t first_byte_us;
  // Microseconds from the start until the body was read; 0 if not known.
  uint64_t total_us;
  // Microseconds of the second round trip on the same connection; 0 if there was none.
  uint64_t repeat_us;
} outwatch_response;

// Gets one line of the log: its level, its part such as `outwatch::monitoring`, and its
// text. They stay until it returns. **It is called on any thread of the library, several
// at a time**, and must call nothing of the library.
typedef void (*outwatch_logged)(void *context, uint32_t level, const char *part, const char *text);

// Gets the end of a test: `OUTWATCH_CODE_OK` and the report as a JSON object, or a code
// and a message. The text stays until it returns.
typedef void (*outwatch_tested)(void *context, enum outwatch_code code, const char *text);

// Gets an update as a JSON object with `reports`, `removed` (tags that are gone) and
// `urgent`. The text stays until it returns. NULL comes once, as the last call.
typedef void (*outwatch_updated)(void *context, const char *json);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The library's version, such as `0.1.0`. It is never freed.
const char *outwatch_version(void);

// Frees a text that the library gave. NULL is nothing to free.
void outwatch_text_free(char *text);

// Begins to describe a monitor over a core, which is copied. NULL gives NULL.
struct outwatch_builder *outwatch_builder_new(const struct outwatch_core *core);

// The text of a config's `experimental.monitoring` block, JSON. Without it all defaults
// hold.
void outwatch_builder_options(struct outwatch_builder *builder, const char *json);

// Where results are kept between runs. Without it they are forgotten. One process at a
// time can use a file.
void outwatch_builder_cache_file(struct outwatch_builder *builder, const char *path);

// A component to run instead of the one that is built in: a `.wasm` file.
void outwatch_builder_component_file(struct outwatch_builder *builder, const char *path);

// The same from memory; the bytes are copied.
void outwatch_builder_component(struct outwatch_builder *builder,
                                const uint8_t *bytes,
                                size_t length);

// Code that `outwatch component --precompile` made of a component, for this version of the
// library: it is run as it is, and needs no compiler. The file must not change while the
// monitor lives.
//
// **It is machine code, and is trusted as the library itself is**: it must come with the
// app, from where nobody else can write.
void outwatch_builder_precompiled_file(struct outwatch_builder *builder, const char *path);

// The same from memory; the bytes are copied.
void outwatch_builder_precompiled(struct outwatch_builder *builder,
                                  const uint8_t *bytes,
                                  size_t length);

// A folder for compiled code, so that only the first start compiles the component. Nobody
// but this user may be able to write there; otherwise it is not used.
void outwatch_builder_code_folder(struct outwatch_builder *builder, const char *path);

// Starts as if `outwatch_pause` had been called.
void outwatch_builder_paused(struct outwatch_builder *builder);

// Frees what is not to be started; `released` is called within. NULL is nothing to free.
void outwatch_builder_free(struct outwatch_builder *builder);

// Starts the monitor on a thread of its own, and waits until it runs. The builder is
// freed, whatever comes of it. `monitor` gets the handle, or NULL.
enum outwatch_code outwatch_start(struct outwatch_builder *builder,
                                  struct outwatch_monitor **monitor,
                                  char **message);

// Answers `list`, `selected` or `status`. The text is copied.
enum outwatch_code outwatch_answer(struct outwatch_answer_slot *answer, const char *text);

// Answers a dial with a connected stream socket: TCP, or one end of a Unix socket pair
// for a core whose streams are no sockets.
//
// **The descriptor is the library's from this call on, whatever it returns**: it reads,
// writes and closes it.
enum outwatch_code outwatch_connected(uint64_t exchange, int socket);

// Answers a fetch with a response. All is copied.
enum outwatch_code outwatch_fetched(uint64_t exchange, const struct outwatch_response *response);

// Answers a dial or a fetch with an error.
//
// `kind` is the name that reports show: `dial_refused`, `dial_timeout`, `dns_fail`,
// `dns_timeout`, `no_route`, `proxy_auth`, `proxy_handshake`, `tls_fail`, `tls_cert`,
// `http_malformed`, `eof`, `reset`, `timeout`, `unsupported`; anything else is `other`.
// `text` is for people: what was tried, with whom, what came back.
enum outwatch_code outwatch_failed(uint64_t exchange, const char *kind, const char *text);

// Has `logged` called for every line of the log of this level and those above, from now
// until the process ends. It can be set once in a process. `docs/LOG.md` has the lines.
enum outwatch_code outwatch_log_to(uint32_t level,
                                   outwatch_logged logged,
                                   void *context,
                                   char **message);

// All current reports in the order of the config, as a JSON list that the caller frees.
// Waits for the library's thread.
enum outwatch_code outwatch_reports(const struct outwatch_monitor *monitor,
                                    uint32_t view,
                                    char **json,
                                    char **message);

// The current report of a tag, as a JSON object that the caller frees. Waits for the
// library's thread.
enum outwatch_code outwatch_report(const struct outwatch_monitor *monitor,
                                   const char *tag,
                                   uint32_t view,
                                   char **json,
                                   char **message);

// The options in force, with all defaults filled in, as JSON that the caller frees. Waits
// for the library's thread.
enum outwatch_code outwatch_options(const struct outwatch_monitor *monitor,
                                    char **json,
                                    char **message);

// The last measurements of an outbound in this run, at most 32, oldest first, as a JSON
// list that the caller frees; empty for a group and for an unknown tag. Waits for the
// library's thread.
enum outwatch_code outwatch_measurements(const struct outwatch_monitor *monitor,
                                         const char *tag,
                                         char **json,
                                         char **message);

// Host names that the lookups of exits use, as a JSON list that the caller frees, for a
// host that routes them. Waits for the library's thread.
enum outwatch_code outwatch_service_hosts(const struct outwatch_monitor *monitor,
                                          char **json,
                                          char **message);

// A user's connection went through the core. **Testing stops when nobody uses the
// connection: call this for every one.** It is cheap, and may be called in a callback; so
// may all below but `outwatch_stop`.
enum outwatch_code outwatch_activity(const struct outwatch_monitor *monitor);

// The host's network changed.
enum outwatch_code outwatch_network_changed(const struct outwatch_monitor *monitor);

// A user's connection through `tag` failed. `group` had chosen it; NULL if none had.
// `fault` is one of `OUTWATCH_FAULT_OF_...`.
enum outwatch_code outwatch_connection_failed(const struct outwatch_monitor *monitor,
                                              const char *tag,
                                              const char *group,
                                              uint32_t fault);

// A group selects another member.
enum outwatch_code outwatch_selection_changed(const struct outwatch_monitor *monitor,
                                              const char *group);

// An outbound that was not ready is ready now.
enum outwatch_code outwatch_outbound_ready(const struct outwatch_monitor *monitor, const char *tag);

// The core's list of outbounds changed; it is asked for anew.
enum outwatch_code outwatch_outbounds_changed(const struct outwatch_monitor *monitor);

// The device goes to sleep: no tests but those asked for, until `outwatch_resume`.
enum outwatch_code outwatch_pause(const struct outwatch_monitor *monitor);

// The device woke up.
enum outwatch_code outwatch_resume(const struct outwatch_monitor *monitor);

// Ends the monitor and waits until its results are saved. The handle stays: what it is asked
// from now on it answers with `OUTWATCH_CODE_STOPPED`, and what it is told is lost.
enum outwatch_code outwatch_stop(const struct outwatch_monitor *monitor, char **message);

// Stops the monitor if it runs, and frees it. No callback is called once this returns;
// only within a callback it returns before that, and `released` comes when all is done.
// NULL is nothing to free.
void outwatch_free(struct outwatch_monitor *monitor);

// Tests an outbound in stages, or every leaf of a group. `tested` is called exactly once,
// on the library's thread, unless the call itself fails. A report that says `failed` is
// an answer: its code is `OUTWATCH_CODE_OK`.
enum outwatch_code outwatch_test(const struct outwatch_monitor *monitor,
                                 const char *tag,
                                 outwatch_tested tested,
                                 void *context,
                                 char **message);

// Has `updated` called for every update from now on, beginning with the current state of
// all in `scope`. One who is slow misses states in between, never the last.
//
// It ends by `outwatch_unsubscribe` or with the monitor. **The last call has NULL; after
// it `context` is not used any more.** `subscription`, if not NULL, gets its number.
enum outwatch_code outwatch_subscribe(const struct outwatch_monitor *monitor,
                                      uint32_t scope,
                                      const char *tag,
                                      uint32_t view,
                                      outwatch_updated updated,
                                      void *context,
                                      uint64_t *subscription,
                                      char **message);

// Ends a subscription. One call that runs already, and the one with NULL, may still come.
enum outwatch_code outwatch_unsubscribe(const struct outwatch_monitor *monitor,
                                        uint64_t subscription);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* OUTWATCH_H */
