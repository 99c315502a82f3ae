/* service/client/late_command.c - `tandem late`: which moves of a running lab were late, by how
 * much, and which part of the lag it was. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/lab_time.h"
#include "base/text/names.h"
#include "base/text/utf8.h"
#include "logger/message/message.h"
#include "logger/message/record.h"
#include "service/client/daemon_client.h"
#include "service/list/colour.h"
#include "service/list/entry_filter.h"
#include "service/tool/commands.h"
#include "service/tool/json_file.h"

enum { LIMIT = 30, PARTS_MAX = 8, WORD_MAX = 64 };

struct late {
    struct daemon_client daemon;
    struct entry_filter filter;
    const char *pair;
    int limit;
    bool json, colour;
};

/* How often each part was the cause. */
struct part_counts {
    char words[PARTS_MAX][WORD_MAX];
    size_t counts[PARTS_MAX];
};

/* Writes what caused the lag: "motion", or why no part is named. */
static void name_part(const json_t *entry, char out[WORD_MAX])
{
    const char *part = json_file_text(entry, "explained_by");
    const char *silent = json_file_text(entry, "timeout_side");
    const bool predicted = !isnan(json_file_real(entry, "lag_expected_s"));
    const bool done = strcmp(json_file_text(entry, "real_status"), "done") == 0 &&
                      strcmp(json_file_text(entry, "virtual_status"), "done") == 0;
    (void)snprintf(out, WORD_MAX, "%s%s",
                   silent[0]                                       ? "no reply from "
                   : strcmp(part, "not_explained") == 0            ? "not explained"
                   : part[0]                                       ? part
                   : !isnan(json_file_real(entry, "lag_excess_s")) ? "as predicted"
                   : predicted && !done                            ? "not both done"
                                                                   : "no prediction",
                   silent);
}

static void count_part(struct part_counts *parts, const char *word)
{
    size_t i = 0;
    while (i < PARTS_MAX - 1 && parts->counts[i] > 0 && strcmp(parts->words[i], word) != 0) {
        i++;
    }
    (void)snprintf(parts->words[i], WORD_MAX, "%s", i < PARTS_MAX - 1 ? word : "other");
    parts->counts[i]++;
}

static void format_lap(char out[16], const json_t *entry, const char *key, bool sign)
{
    const double value = json_file_real(entry, key);
    (void)snprintf(out, 16, isnan(value) ? "-" : sign ? "%+.3f" : "%.3f", value);
}

/* Writes the size of a move; one that no robot can do is short, too. */
static void format_size(char out[16], const json_t *entry, const char *key, bool rotation)
{
    const double value = json_file_real(entry, key);
    (void)snprintf(out, 16, fabs(value) >= 1e6 ? "%.3g" : rotation ? "%+.2f" : "%.3f", value);
}

static void print_entry(const struct late *late, const json_t *entry, const char *part)
{
    static const char *const laps[] = {"real_lap_s", "virtual_lap_s", "lag_s"};
    char time[28];
    char id[EVENT_ID_MAX];
    char pair[EVENT_PAIR_MAX];
    char lap[COUNT(laps)][16];
    char size[2][16];
    char member[WORD_MAX + 8];
    const char *word = json_file_text(entry, "verdict");
    const enum verdict verdict = (enum verdict)names_value(&verdict_names, word);
    message_format_time(lab_us(json_file_real(entry, "t")), time);
    (void)snprintf(id, sizeof id, "%s", json_file_text(entry, "id"));
    (void)snprintf(pair, sizeof pair, "%s", json_file_text(entry, "pair"));
    for (size_t i = 0; i < COUNT(laps); i++) {
        format_lap(lap[i], entry, laps[i], i == 2);
    }
    format_size(size[0], entry, "rotation_rad", true);
    format_size(size[1], entry, "displacement_m", false);
    (void)printf("%.19sZ %-8s %-12s %6s %7s %8s %8s %s%8s  %-10s%s", time, utf8_tame(pair),
                 id[0] ? utf8_tame(id) : "-", size[0], size[1], lap[0], lap[1],
                 late->colour && verdict < VERDICT_COUNT ? colour_of_verdict(verdict) : "",
                 lap[2], word, late->colour ? COLOUR_PLAIN : "");
    (void)snprintf(member, sizeof member, "lag_%s_s", part);
    const double share_s = json_file_real(entry, member);
    (void)printf(isnan(share_s) ? " %s" : " %s %+.3f", part, share_s);
    const double expected_s = json_file_real(entry, "lag_expected_s");
    (void)printf(isnan(expected_s) ? "\n" : " (predicted %+.3f)\n", expected_s);
}

/* Prints the answer, whose newest entry is the first, with the newest last. */
static void print_entries(const struct late *late, const json_t *answer)
{
    const json_t *entries = json_object_get(answer, "entries");
    const bool more = json_is_string(json_object_get(answer, "next_cursor"));
    struct part_counts parts = {0};
    const size_t count = json_array_size(entries);
    double worst_s = (double)NAN;
    if (count > 0) {
        (void)printf("%-20s %-8s %-12s %6s %7s %8s %8s %8s  %-10s %s\n", "time (UTC)", "pair",
                     "id", "rad", "m", "real s", "virtual", "lag s", "verdict", "cause");
    }
    for (size_t i = count; i-- > 0;) {
        const json_t *entry = json_array_get(entries, i);
        const double lag_s = json_file_real(entry, "lag_s");
        char part[WORD_MAX];
        name_part(entry, part);
        count_part(&parts, part);
        print_entry(late, entry, part);
        worst_s = isnan(worst_s) || fabs(lag_s) > fabs(worst_s) ? lag_s : worst_s;
    }
    (void)printf("%zu %s%s", count, count == 1 ? "move" : "moves",
                 !more                           ? ""
                 : late->limit < QUERY_LIMIT_MAX ? ", the newest; --limit shows more"
                                                 : ", the newest; --until shows older ones");
    if (!isnan(worst_s)) {
        (void)printf("; largest lag %+.3f s", worst_s);
    }
    for (size_t i = 0; i < PARTS_MAX && parts.counts[i] > 0; i++) {
        (void)printf("%s %s %zu", i == 0 ? ";" : ",", parts.words[i], parts.counts[i]);
    }
    (void)putchar('\n');
}

static int list_entries(struct late *late)
{
    char query[QUERY_TEXT_MAX];
    char pair[QUERY_TEXT_MAX] = "";
    late->filter.late = late->filter.late || !late->filter.verdict;
    if (!entry_filter_parse(&late->filter, "late", query, NULL)) {
        return EXIT_USAGE;
    }
    if (late->pair && !percent_encode(late->pair, pair, sizeof pair)) {
        return complain_exit(EXIT_USAGE, "late: --pair: too long for the name of a pair");
    }
    json_t *answer = daemon_client_get(&late->daemon, "%s%s/entries?%s&limit=%d",
                                       late->pair ? "/pairs/" : "", pair, query, late->limit);
    if (!answer) {
        return EXIT_FAILED;
    }
    if (late->json) {
        (void)json_dumpf(answer, stdout, JSON_COMPACT);
        (void)putchar('\n');
    } else {
        late->colour = colour_wanted(stdout);
        print_entries(late, answer);
    }
    json_decref(answer);
    return fflush(stdout) == 0 ? EXIT_FINE : EXIT_FAILED;
}

int command_late(int argc, char **argv)
{
    struct late late = {.limit = LIMIT};
    enum { OWN = 3 };
    struct argument rows[OWN + ENTRY_FILTER_ARGUMENTS] = {
        {"pair", 0, ARGUMENT_TEXT, &late.pair, 0, 0, "ID", "of this pair only"},
        {"limit", 'n', ARGUMENT_INTEGER, &late.limit, 1, QUERY_LIMIT_MAX, "N",
         "at most the N newest (30)"},
        {"json", 0, ARGUMENT_FLAG, &late.json, 0, 0, NULL,
         "the answer of the daemon, newest first"}};
    daemon_client_init(&late.daemon, "late");
    entry_filter_arguments(&late.filter, rows + OWN);
    const struct arguments arguments = {
        .command = "late",
        .operands = "",
        .description =
            "  Asks a running daemon which moves were late: AHEAD (the real robot came "
            "later),\n"
            "  BEHIND (the virtual robot came later), TIMEOUT (one did not reply); or those "
            "of\n"
            "  --verdict. Each line has the lag and what caused it: the part of the lag that\n"
            "  was not predicted, as docs/forecast.md defines it. \"as predicted\" means that\n"
            "  the move was late as others before it: calibrate the twin. The newest comes "
            "last.\n",
        .examples = "  tandem late --since yesterday\n"
                    "  tandem late --pair r1 --verdict BEHIND --since -2h\n"
                    "  tandem late --json --limit 1000 | jq '.entries[].lag_s'\n",
        .exit_status = "no daemon answered, or it refused",
        .rows = rows,
        .row_count = COUNT(rows) - 1, /* --late is last, and what the command does anyway */
        .more = &late.daemon.group};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    return daemon_client_accepts(late.daemon.url, "late") ? list_entries(&late) : EXIT_USAGE;
}
