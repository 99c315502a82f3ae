/* service/replay/codec_command.c - `tandem codec try`: shows the events that a lab decodes from
 * recorded messages, or why it ignores them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/numbers/hash.h"
#include "logger/codec/mapping.h"
#include "logger/storage/journal.h"
#include "service/replay/event_line.h"
#include "service/replay/replay.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/lab_argument.h"

enum { HINTS_MAX = 64 };

struct attempt {
    const struct lab_file *file;
    const char *pair; /* NULL: all */
    struct codec_set codecs;
    size_t printed; /* events of this message */
    const char *path;
    unsigned number;           /* of the line */
    uint64_t hints[HINTS_MAX]; /* hashes of those that were printed */
    size_t hint_count;
    char line[MESSAGE_LINE_MAX + 64];
    char scratch[MESSAGE_PAYLOAD_MAX + 1];
};

static void print_event(void *context, const struct event *event)
{
    struct attempt *a = context;
    if (!a->pair || strcmp(a->pair, event->pair) == 0) {
        event_line_print(event, NULL, stdout);
        a->printed++;
    }
}

/* ---- reasons ------------------------------------------------------------------------- */

static void drop_event(void *context, const struct event *event)
{
    (void)context;
    (void)event;
}

/* Each hint is printed once; what follows a comma is an example. */
static void print_hint(void *context, const char *text)
{
    struct attempt *a = context;
    const uint64_t hash = hash_bytes(HASH_START, text, strcspn(text, ","));
    size_t i = 0;
    while (i < a->hint_count && a->hints[i] != hash) {
        i++;
    }
    if (i == a->hint_count && i < HINTS_MAX) {
        a->hints[a->hint_count++] = hash;
        complain("%s:%u: note: %s", a->path, a->number, text);
    }
}

/* Prints what a table's author should know, and returns why there is no event. */
static const char *explain_message(struct attempt *a, const struct message *m)
{
    const char *why = "no codec of the lab has this topic";
    const struct mapping_hints hints = {print_hint, a};
    for (size_t i = 0; i < a->file->pair_count; i++) {
        const struct pair_params *p = &a->file->pairs[i];
        if ((a->pair && strcmp(p->id, a->pair) != 0) || !p->speaks.mapping) {
            continue;
        }
        const struct mapping_receiver to = {.pair = p->id, .hints = &hints};
        const enum mapping_outcome outcome =
            mapping_decode(p->speaks.mapping, &to, m, drop_event, NULL);
        if (outcome == MAPPING_PASSED) {
            return "the mappings with this topic are for other payloads (only) or pairs";
        }
        why = outcome == MAPPING_DECODED ? "it withdraws an earlier message: no event"
                                         : "no mapping has this topic";
    }
    return why;
}

/* ---- lines ---- */

/* A line without "tst" has its time in "t", or any time. */
static size_t stamp_line(struct attempt *a, size_t bytes)
{
    char stamp[28];
    char head[48];
    const char *brace = a->line + strspn(a->line, " \t");
    if (*brace != '{' || journal_line_us(a->line, bytes) != LAB_TIME_NONE) {
        return bytes;
    }
    json_t *line = json_loadb(a->line, bytes, JSON_DISABLE_EOF_CHECK, NULL);
    const json_t *t = json_object_get(line, "t");
    const int64_t t_us = json_is_number(t) ? lab_us(json_number_value(t)) : 0;
    json_decref(line);
    message_format_time(t_us == LAB_TIME_NONE ? 0 : t_us, stamp);
    const bool more = brace[1 + strspn(brace + 1, " \t\r\n")] != '}';
    const int n = snprintf(head, sizeof head, "{\"tst\":\"%s\"%s", stamp, more ? "," : "");
    const size_t rest = bytes - (size_t)(brace + 1 - a->line);
    memmove(a->line + n, brace + 1, rest);
    memcpy(a->line, head, (size_t)n);
    return rest + (size_t)n;
}

/* Returns false when the line is no message. */
static bool try_line(struct attempt *a, size_t bytes, const char *path, unsigned number)
{
    struct message m;
    struct err err = {0};
    bytes = stamp_line(a, bytes);
    const enum status status = message_parse(a->line, bytes, a->scratch, &m, &err);
    if (status == STATUS_E_EMPTY) {
        return true;
    }
    if (status != STATUS_OK) {
        return complain("%s:%u: %s", path, number, err.text);
    }
    a->printed = 0;
    (void)codec_decode(&a->codecs, a->file->broker.prefix, &m, print_event, a);
    a->path = path;
    a->number = number;
    const char *silence = explain_message(a, &m);
    if (a->printed == 0) {
        event_line_print(NULL, silence, stdout);
    }
    return true;
}

static int try_stream(struct attempt *a, FILE *in, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    int exit_status = EXIT_FINE;
    unsigned number = 0;
    for (ssize_t n = getline(&line, &room, in); n >= 0; n = getline(&line, &room, in)) {
        number++;
        if ((size_t)n > MESSAGE_LINE_MAX) {
            complain("%s:%u: longer than %d bytes", path, number, MESSAGE_LINE_MAX);
            exit_status = EXIT_FAILED;
            continue;
        }
        memcpy(a->line, line, (size_t)n + 1);
        exit_status = try_line(a, (size_t)n, path, number) ? exit_status : EXIT_FAILED;
    }
    free(line);
    return !ferror(in) ? exit_status : EXIT_FAILED;
}

/* ---- the command ---- */

static int try_file(const struct lab_file *file, const char *pair, const char *path)
{
    const struct lab_params params = lab_file_params(file);
    const bool standard = strcmp(path, "-") == 0;
    FILE *in = standard ? stdin : fopen(path, "re");
    if (!in) {
        return complain_exit(EXIT_USAGE, "%s: %s", path, strerror(errno));
    }
    struct attempt *a = calloc(1, sizeof *a);
    struct lab *lab = lab_memory_create(&params);
    int exit_status = EXIT_FAILED;
    if (a && lab) {
        a->file = file;
        a->pair = pair;
        lab_codecs(lab, &a->codecs);
        exit_status = try_stream(a, in, path);
    } else {
        complain("not enough memory");
    }
    lab_memory_destroy(lab);
    free(a);
    if (!standard) {
        (void)fclose(in);
    }
    return exit_status;
}

static bool is_pair(const struct lab_file *file, const char *pair)
{
    return lab_find_params(file->pairs, file->pair_count, pair) != NULL;
}

int command_codec(int argc, char **argv)
{
    const char *path = NULL;
    const char *pair = NULL;
    struct lab_file file = {0};
    const struct argument rows[] = {
        {"lab", 'c', ARGUMENT_TEXT, &path, 0, 0, "LAB.yaml", "the lab file"},
        {"pair", 0, ARGUMENT_TEXT, &pair, 0, 0, "ID", "events of this pair only"},
    };
    const struct arguments arguments = {
        .command = "codec",
        .operands = "try FILE|-",
        .description = "  Prints a line for each recorded message: the event that the lab "
                       "decodes from it, or\n"
                       "  why there is none. Input lines are those of a journal, of "
                       "mosquitto_sub -F %J or %j,\n"
                       "  or {\"topic\": ..., \"payload\": ...}; - is standard input. Nothing "
                       "is sent and nothing\n"
                       "  is compared; tandem replay does that.\n",
        .examples = "  tandem record -c lab.yaml day.jsonl; tandem codec try -c lab.yaml "
                    "--pair r1 day.jsonl\n",
        .exit_status = "a line is no message, or the output could not be written",
        ARGUMENT_ROWS(rows)};
    int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    if (strcmp(argv[1], "try") != 0) {
        return complain_exit(
            EXIT_USAGE, "codec: 'try FILE' or 'try -' is wanted, see 'tandem codec --help'");
    }
    if (!lab_argument_load("codec", path, &file)) {
        return EXIT_USAGE;
    }
    if (pair && !is_pair(&file, pair)) {
        complain("codec: the lab has no pair '%s'", pair);
        exit_status = EXIT_USAGE;
    } else {
        exit_status = try_file(&file, pair, argv[2]);
    }
    lab_file_free(&file);
    return exit_status;
}
