// A monitor over a core of your own, in C.
//
//     cc embed.c -I../include -loutwatch -lpthread -o embed
//     ./embed '{"interval":"1m"}'
//
// A second argument is code of `outwatch component --precompile`, for a library without a
// compiler.

#include <netdb.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "outwatch.h"

// The core has one outbound, which dials straight.
static void list(void *context, outwatch_answer_slot *answer) {
  (void)context;
  outwatch_answer(answer, "[{\"tag\": \"straight\", \"type\": \"direct\"}]");
}

struct order {
  uint64_t exchange;
  char host[256];
  char port[8];
};

// A callback must return at once, so each dial has a thread. Your core has its own way.
static void *connect_it(void *argument) {
  struct order *order = argument;
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
  int wrong = getaddrinfo(order->host, order->port, &hints, &found);
  int descriptor = wrong ? -1 : socket(found->ai_family, SOCK_STREAM, 0);
  if (wrong) {
    outwatch_failed(order->exchange, "dns_fail", gai_strerror(wrong));
  } else if (descriptor < 0) {
    outwatch_failed(order->exchange, "other", "no socket");
  } else if (connect(descriptor, found->ai_addr, found->ai_addrlen)) {
    close(descriptor);
    outwatch_failed(order->exchange, "dial_refused", "the target refused the connection");
  } else {
    outwatch_connected(order->exchange, descriptor); // The descriptor is the library's now.
  }
  if (found)
    freeaddrinfo(found);
  free(order);
  return NULL;
}

static void dial(void *context, uint64_t exchange, const outwatch_dial *dial) {
  (void)context;
  pthread_t thread;
  struct order *order = calloc(1, sizeof *order);
  if (!order)
    return; // Not answered: it ends by its deadline.
  order->exchange = exchange;
  snprintf(order->host, sizeof order->host, "%s", dial->host);
  snprintf(order->port, sizeof order->port, "%d", dial->port);
  if (pthread_create(&thread, NULL, connect_it, order)) {
    outwatch_failed(exchange, "other", "no thread");
    free(order);
  } else {
    pthread_detach(thread);
  }
}

static void tested(void *context, outwatch_code code, const char *text) {
  printf("tested (%d): %s\n", code, text);
  sem_post(context);
}

static void updated(void *context, const char *json) {
  if (json)
    printf("update: %s\n", json);
  else
    sem_post(context); // The last call.
}

static int refused(const char *what, char *message) {
  fprintf(stderr, "%s: %s\n", what, message ? message : "it does not say why");
  outwatch_text_free(message);
  return 1;
}

int main(int count, char **arguments) {
  sem_t test, updates;
  sem_init(&test, 0, 0);
  sem_init(&updates, 0, 0);
  char *message = NULL, *reports = NULL;
  outwatch_monitor *monitor = NULL;
  outwatch_core core = {.list = list, .dial = dial};
  outwatch_builder *builder = outwatch_builder_new(&core);
  if (count > 1)
    outwatch_builder_options(builder, arguments[1]);
  if (count > 2)
    outwatch_builder_precompiled_file(builder, arguments[2]);
  if (outwatch_start(builder, &monitor, &message))
    return refused("it does not start", message);

  outwatch_subscribe(monitor, OUTWATCH_ALL, NULL, OUTWATCH_DISPLAY, updated, &updates, NULL, NULL);
  if (outwatch_test(monitor, "straight", tested, &test, &message))
    return refused("it is not tested", message);
  sem_wait(&test);
  if (outwatch_reports(monitor, OUTWATCH_CONFIRMED, &reports, &message))
    return refused("there are no reports", message);
  printf("reports: %s\n", reports);
  outwatch_text_free(reports);

  if (outwatch_stop(monitor, &message))
    return refused("it did not end well", message);
  sem_wait(&updates);
  outwatch_free(monitor);
  return 0;
}
