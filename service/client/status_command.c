/* service/client/status_command.c - `tandem status`: a running lab, or one of its pairs, at a
 * glance. */
#include <stdio.h>
#include <string.h>

#include "service/client/daemon_client.h"
#include "service/client/status_page.h"
#include "service/list/colour.h"
#include "service/tool/commands.h"
#include "service/tool/lab_clock.h"
#include "service/tool/stop_signal.h"
#include "web/http/query.h"

enum {
    ASKED_MAX = 100, /* pairs whose calibration and forecast are read, one request each */
    WATCH_US = 2000000,
    WATCH_SHARE = 10 /* a watch rests this many times as long as reading takes */
};

struct status_request {
    struct daemon_client daemon;
    const char *pair; /* NULL: all */
    bool json, watch, colour;
};

/* Sets the member `name` of the object to a member of the answer to a GET, or to all of it. */
static bool add_answer(const struct daemon_client *daemon, json_t *object, const char *name,
                       const char *path, const char *member)
{
    json_t *answer = daemon_client_get(daemon, "%s", path);
    json_t *value = member ? json_object_get(answer, member) : answer;
    const bool added = value && json_object_set(object, name, value) == 0;
    json_decref(answer);
    return added;
}

/* Adds calibration, forecast and newest alarm to a pair. Alarms are left out if the daemon
 * cannot list them. */
static bool complete_pair(const struct daemon_client *daemon, json_t *pair, bool alarms)
{
    static const char *const parts[][3] = {{"travel_time", "travel-time", NULL},
                                           {"forecast", "forecast", NULL},
                                           {"newest", "alarms?limit=1", "alarms"}};
    bool whole = true;
    for (size_t i = 0; whole && i < COUNT(parts) - !alarms; i++) {
        char path[QUERY_TEXT_MAX];
        (void)snprintf(path, sizeof path, "/pairs/%s/%s",
                       json_string_value(json_object_get(pair, "id")), parts[i][1]);
        whole = add_answer(daemon, pair, parts[i][0], path, parts[i][2]);
    }
    return whole;
}

static bool read_pair(const struct status_request *request, json_t *pairs, bool alarms)
{
    char id[QUERY_TEXT_MAX];
    if (!percent_encode(request->pair, id, sizeof id)) {
        return complain("status: PAIR is too long for the name of a pair");
    }
    json_t *pair = daemon_client_get(&request->daemon, "/pairs/%s", id);
    return pair && json_array_append_new(pairs, pair) == 0 &&
           complete_pair(&request->daemon, pair, alarms);
}

static bool read_pairs(const struct status_request *request, json_t *pairs, bool alarms)
{
    char cursor[QUERY_CURSOR_MAX] = "";
    bool whole = true;
    do {
        json_t *page =
            daemon_client_get(&request->daemon, "/pairs?limit=%d%s", QUERY_LIMIT_MAX, cursor);
        const char *next = json_string_value(json_object_get(page, "next_cursor"));
        whole = page && json_array_extend(pairs, json_object_get(page, "pairs")) == 0;
        (void)snprintf(cursor, sizeof cursor, "%s%s", next ? "&cursor=" : "", next ? next : "");
        json_decref(page);
    } while (whole && cursor[0]);
    for (size_t i = 0, asked = 0; whole && i < json_array_size(pairs) && asked < ASKED_MAX;
         i++) {
        json_t *pair = json_array_get(pairs, i);
        if (json_integer_value(json_object_get(pair, "entries")) > 0) {
            whole = complete_pair(&request->daemon, pair, alarms);
            asked++;
        }
    }
    return whole;
}

/* Returns NULL after a message. */
static json_t *read_document(const struct status_request *request)
{
    json_t *document = json_object();
    json_t *pairs = json_array();
    const struct daemon_client *daemon = &request->daemon;
    if (json_object_set_new(document, "pairs", pairs) == 0 &&
        add_answer(daemon, document, "status", "/status", NULL)) {
        /* Lists need the store. The lab is live without it, so the rest is shown. */
        const bool alarms =
            add_answer(daemon, document, "alarms", "/alarms?limit=1", "alarms");
        if ((request->pair ? read_pair : read_pairs)(request, pairs, alarms)) {
            return document;
        }
    }
    json_decref(document);
    return NULL;
}

/* Prints the present status; the exit status says whether the daemon answers and is ready. */
static int print_status(const struct status_request *request)
{
    json_t *document = read_document(request);
    const json_t *status = json_object_get(document, "status");
    const bool ready = json_is_true(json_object_get(status, "ready"));
    if (document && request->watch && request->colour && !request->json) {
        (void)fputs("\033[H\033[2J", stdout);
    }
    if (document && request->json) {
        (void)json_dumpf(document, stdout, JSON_COMPACT);
        (void)putchar('\n');
    } else if (document) {
        (request->pair ? status_page_print_pair : status_page_print)(document, request->colour);
    }
    json_decref(document);
    return fflush(stdout) == 0 && ready ? EXIT_FINE : EXIT_FAILED;
}

static int watch_status(const struct status_request *request)
{
    int exit_status = EXIT_FINE;
    stop_signal_install();
    while (!stop_signal_raised() && !ferror(stdout)) {
        const int64_t begun_us = lab_clock_monotonic_us();
        exit_status = print_status(request);
        const int64_t now_us = lab_clock_monotonic_us();
        const int64_t rest_us = WATCH_SHARE * (now_us - begun_us);
        lab_clock_sleep_until_us(now_us + (rest_us > WATCH_US ? rest_us : WATCH_US));
        (void)fputs(request->json || request->colour ? "" : "\n", stdout);
    }
    return exit_status;
}

int command_status(int argc, char **argv)
{
    struct status_request request = {0};
    const struct argument rows[] = {{"watch", 'w', ARGUMENT_FLAG, &request.watch, 0, 0, NULL,
                                     "again every two seconds, until Ctrl-C"},
                                    {"json", 0, ARGUMENT_FLAG, &request.json, 0, 0, NULL,
                                     "one JSON document a line: status, pairs, alarms"}};
    daemon_client_init(&request.daemon, "status");
    const struct arguments arguments = {
        .command = "status",
        .operands = "[PAIR]",
        .description =
            "  Asks a running daemon how the lab is, or one pair: health, verdicts of the "
            "last\n"
            "  moves, calibration with its first reason, trust (do predicted lags hold?) and\n"
            "  alarms. Pairs in trouble are listed by name. Calibration and trust are those "
            "of\n"
            "  the first 100 pairs that have moved.\n",
        .examples =
            "  tandem status\n"
            "  tandem status r1 --watch\n"
            "  tandem status --url https://lab:8420 --token-file token --json | jq .pairs\n",
        .exit_status = "no daemon answered, it refused, or is not ready",
        ARGUMENT_ROWS(rows),
        .more = &request.daemon.group};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    if (!daemon_client_accepts(request.daemon.url, "status")) {
        return EXIT_USAGE;
    }
    request.pair = argv[1];
    request.colour = colour_wanted(stdout);
    return (request.watch ? watch_status : print_status)(&request);
}
