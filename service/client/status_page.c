#include "service/client/status_page.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/text/utf8.h"
#include "service/list/colour.h"
#include "service/tool/json_file.h"

enum {
    TEXT_MAX = 256,
    TROUBLED_MAX = 3, /* pairs in trouble with a line each */
    NEW_ALARM_S = 60,
    RECENT_ALARM_S = 900,
    ENOUGH_MOVES = 10,
    FAILED_SHARE = 10, /* a tenth of the moves failed: worth a look */
    ENOUGH_HELD = 20   /* predictions before their share means something (docs/forecast.md) */
};

/* How a pair is, the worst first. */
enum level { TROUBLE, WATCH, WELL, QUIET, LEVEL_COUNT };

static const struct {
    const char *words, *colour;
} levels[LEVEL_COUNT] = {[TROUBLE] = {"in trouble", COLOUR_RED},
                         [WATCH] = {"to watch", COLOUR_AMBER},
                         [WELL] = {"OK", COLOUR_GREEN},
                         [QUIET] = {"without moves", COLOUR_DIM}};

static const char *const fit_verdicts[] = {"PASS", "MARGINAL", "FAIL"};
static const char *const sides[] = {"real", "virtual"};

/* A page while it is printed. */
struct page {
    bool colour;
    double now_s; /* the daemon's */
};

static void PRINTF_LIKE(3, 0) paint_list(const struct page *page, const char *colour,
                                         const char *format, va_list arguments)
{
    char text[2 * TEXT_MAX];
    (void)vsnprintf(text, sizeof text, format, arguments);
    (void)printf("%s%s%s", page->colour ? colour : "", utf8_tame(text),
                 page->colour ? COLOUR_PLAIN : "");
}

/* Prints a text that may come from a robot, in a colour or "". */
static void PRINTF_LIKE(3, 4)
    paint_text(const struct page *page, const char *colour, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    paint_list(page, colour, format, arguments);
    va_end(arguments);
}

static void print_label(const struct page *page, const char *label)
{
    paint_text(page, COLOUR_BOLD, "%-12s ", label);
}

static void PRINTF_LIKE(4, 5) print_line(const struct page *page, const char *label,
                                         const char *colour, const char *format, ...)
{
    va_list arguments;
    print_label(page, label);
    va_start(arguments, format);
    paint_list(page, colour, format, arguments);
    va_end(arguments);
    (void)putchar('\n');
}

static const char *format_age(const struct page *page, double t_s, char out[32])
{
    static const struct {
        double s;
        const char *name;
    } units[] = {{1.0, "s"}, {60.0, "min"}, {3600.0, "h"}, {86400.0, "d"}};
    const double age_s = fmax(page->now_s - t_s, 0.0);
    size_t i = COUNT(units) - 1;
    while (i > 0 && age_s < 2.0 * units[i].s) {
        i--;
    }
    (void)snprintf(out, 32, isnan(t_s) ? "never" : "%.0f %s ago", age_s / units[i].s,
                   units[i].name);
    return out;
}

/* Writes when the last message of a robot came. */
static const char *format_seen(const struct page *page, json_t *robot, char out[48])
{
    char age[32];
    const double seen_s = json_file_real(robot, "seen_t");
    (void)snprintf(out, 48, isnan(seen_s) ? "not seen yet" : "seen %s",
                   format_age(page, seen_s, age));
    return out;
}

static long long count_of(json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* ---- judgements of a pair -------------------------------------------------------------- */

/* Judges the shares of the last moves, and alarms that are not new. */
static enum level judge_recent(json_t *pair, double alarm_age_s, char why[TEXT_MAX])
{
    json_t *recent = json_object_get(pair, "recent_verdicts");
    const long long late = count_of(recent, "AHEAD") + count_of(recent, "BEHIND");
    const long long failed = count_of(recent, "TIMEOUT") + count_of(recent, "OVERFLOW");
    const long long contrary = count_of(json_object_get(pair, "recent_consistency"), "false");
    const bool moved = json_file_text(pair, "last_verdict")[0] != '\0';
    long long moves = 0;
    const char *name = NULL;
    json_t *count = NULL;
    json_object_foreach(recent, name, count) {
        moves += json_integer_value(count);
    }
    const bool enough = moves >= ENOUGH_MOVES;
    if (enough && FAILED_SHARE * failed >= moves) {
        (void)snprintf(why, TEXT_MAX, "%lld of the last %lld commands failed", failed, moves);
    } else if (enough && FAILED_SHARE * contrary >= moves) {
        (void)snprintf(why, TEXT_MAX, "%lld of the last %lld answers contradict each other",
                       contrary, moves);
    } else if (enough && 2 * late > moves) {
        (void)snprintf(why, TEXT_MAX, "%lld of the last %lld moves were late", late, moves);
    } else if (alarm_age_s < RECENT_ALARM_S) {
        (void)snprintf(why, TEXT_MAX, "alarm: %s",
                       json_file_text(json_object_get(pair, "last_alarm"), "type"));
    } else {
        json_t *following = json_object_get(pair, "following");
        const bool active = json_is_true(json_object_get(following, "active"));
        (void)snprintf(why, TEXT_MAX, "%s", moved || active ? "" : "no command has ended yet");
        return moved || active ? WELL : QUIET;
    }
    return WATCH;
}

/* Judges a pair as the overview of the page does (web/page/pair_state.js), with the reason. */
static enum level judge_pair(const struct page *page, json_t *pair, char why[TEXT_MAX])
{
    json_t *alarm = json_object_get(pair, "last_alarm");
    json_t *following = json_object_get(pair, "following");
    const char *last = json_file_text(pair, "last_verdict");
    const double alarm_age_s = page->now_s - json_file_real(alarm, "t");
    char seen[48];
    for (size_t i = 0; i < COUNT(sides); i++) {
        json_t *side = json_object_get(pair, sides[i]);
        if (strcmp(json_file_text(side, "connection"), "offline") == 0) {
            (void)snprintf(why, TEXT_MAX, "the %s robot is offline, %s", sides[i],
                           format_seen(page, side, seen));
            return TROUBLE;
        }
    }
    if (json_is_true(json_object_get(following, "missed"))) {
        (void)snprintf(why, TEXT_MAX, "the fidelity target is missed");
    } else if (strcmp(last, "TIMEOUT") == 0 || strcmp(last, "OVERFLOW") == 0) {
        (void)snprintf(why, TEXT_MAX, "the last command ended with %s", last);
    } else if (json_is_false(json_object_get(pair, "last_consistent"))) {
        (void)snprintf(why, TEXT_MAX, "the last replies of both robots differ");
    } else if (alarm_age_s < NEW_ALARM_S) {
        (void)snprintf(why, TEXT_MAX, "alarm: %s", json_file_text(alarm, "type"));
    } else {
        return judge_recent(pair, alarm_age_s, why);
    }
    return TROUBLE;
}

/* Is the forecast of the lag credible? If not, it is "not known" (docs/forecast.md). */
static bool judge_trust(json_t *pair, char why[TEXT_MAX])
{
    json_t *forecast = json_object_get(pair, "forecast");
    json_t *lag = json_object_get(json_object_get(forecast, "quantities"), "lag");
    const long long held = count_of(lag, "held");
    const long long of = count_of(lag, "of");
    const double most = json_number_value(json_array_get(json_object_get(lag, "held_ci95"), 1));
    json_t *next = json_object_get(pair, "trust");
    const bool open =
        isnan(json_file_real(next, "lag_low_s")) || isnan(json_file_real(next, "lag_high_s"));
    const bool trusted =
        of >= ENOUGH_HELD && !open && most >= json_file_real(forecast, "level");
    (void)snprintf(why, TEXT_MAX, "%s: %lld of %lld predicted lags held",
                   trusted            ? "yes"
                   : of < ENOUGH_HELD ? "not known, 20 are needed"
                   : open             ? "not known, the interval of the lag is open"
                                      : "not known",
                   held, of);
    return trusted;
}

/* ---- lines ----------------------------------------------------------------------------- */

/* Prints the sums of the last verdicts of all pairs. */
static void print_verdicts(const struct page *page, json_t *pairs)
{
    const char *before = "";
    long long moves = 0;
    print_label(page, "verdicts");
    for (enum verdict v = VERDICT_AHEAD; v < VERDICT_COUNT; v++) {
        long long n = 0;
        size_t at = 0;
        json_t *pair = NULL;
        json_array_foreach(pairs, at, pair) {
            n += count_of(json_object_get(pair, "recent_verdicts"), verdict_name(v));
        }
        if (n > 0) {
            (void)fputs(before, stdout);
            paint_text(page, colour_of_verdict(v), "%s %lld", verdict_name(v), n);
            before = ", ";
            moves += n;
        }
    }
    (void)printf(moves > 0 ? " of the last %lld moves\n" : "no moves yet\n", moves);
}

/* Writes an end of an interval; an open end is null in JSON. */
static const char *format_end(json_t *end, char out[32])
{
    (void)snprintf(out, 32, json_is_number(end) ? "%.4g" : "-", json_number_value(end));
    return out;
}

static void print_speed(json_t *fit, const char *name, const char *words)
{
    json_t *ci95 = json_object_get(json_object_get(fit, "ci95"), name);
    const double value = json_file_real(json_object_get(fit, "values"), name);
    json_t *low = json_array_get(ci95, 0);
    json_t *high = json_array_get(ci95, 1);
    char ends[2][32];
    if (isfinite(value)) {
        (void)printf(json_is_number(low) || json_is_number(high) ? ", %s %.4g [%s, %s]"
                                                                 : ", %s %.4g",
                     words, value, format_end(low, ends[0]), format_end(high, ends[1]));
    }
}

static void print_calibration(const struct page *page, json_t *pair, const char *side)
{
    json_t *fit = json_object_get(json_object_get(pair, "travel_time"), side);
    json_t *reason = json_array_get(json_object_get(fit, "reasons"), 0);
    json_t *advice = json_array_get(json_object_get(fit, "advice"), 0);
    const char *verdict = json_file_text(fit, "verdict");
    print_label(page, "calibration");
    (void)printf("%s ", side);
    if (count_of(fit, "n") == 0) {
        (void)puts("no moves yet");
        return;
    }
    paint_text(page, strcmp(verdict, fit_verdicts[0]) == 0 ? COLOUR_GREEN : COLOUR_AMBER, "%s",
               verdict[0] ? verdict : "without a fit");
    (void)printf(" of %lld moves", count_of(fit, "n"));
    print_speed(fit, "angular_speed_radps", "rad/s");
    print_speed(fit, "linear_speed_mps", "m/s");
    print_speed(fit, "joint_speed_ratio", "joint speed");
    print_speed(fit, "line_speed_ratio", "line speed");
    if (reason) {
        paint_text(page, "", "; %s", json_string_value(reason));
    }
    if (advice) {
        paint_text(page, "", "; do: %s", json_string_value(advice));
    }
    (void)putchar('\n');
}

void status_page_print_pair(json_t *document, bool colour)
{
    char text[TEXT_MAX];
    char age[32];
    char seen[48];
    json_t *pairs = json_object_get(document, "pairs");
    json_t *pair = json_array_get(pairs, 0);
    const struct page page = {colour, json_file_real(json_object_get(document, "status"), "t")};
    const enum level level = judge_pair(&page, pair, text);
    const double judged_s = json_file_real(pair, "last_judged_lag_s");
    const double lag_s = isnan(judged_s) ? json_file_real(pair, "last_lag_s") : judged_s;
    print_label(&page, json_file_text(pair, "id"));
    paint_text(&page, levels[level].colour, "%s", levels[level].words);
    (void)printf("%s%s (%s, %s)\n", text[0] ? ": " : "", text, json_file_text(pair, "kind"),
                 json_file_text(pair, "mode"));
    for (size_t i = 0; i < COUNT(sides); i++) {
        json_t *side = json_object_get(pair, sides[i]);
        print_line(&page, sides[i], "", "%s, %s", json_file_text(side, "connection"),
                   format_seen(&page, side, seen));
    }
    print_label(&page, "last move");
    (void)printf("%s%s%s", json_file_text(pair, "last_verdict"),
                 count_of(pair, "entries") > 0 ? " " : "",
                 format_age(&page, json_file_real(pair, "last_entry_t"), age));
    (void)printf(isnan(lag_s) ? "\n" : ", last known lag %+.3f s\n", lag_s);
    print_verdicts(&page, pairs);
    print_calibration(&page, pair, sides[0]);
    print_calibration(&page, pair, sides[1]);
    const bool trusted = judge_trust(pair, text);
    print_line(&page, "trust", trusted ? COLOUR_GREEN : COLOUR_AMBER, "%s", text);
    json_t *alarm = json_array_get(json_object_get(pair, "newest"), 0);
    print_label(&page, "alarms");
    (void)printf("%lld", count_of(pair, "alarms"));
    if (alarm) {
        paint_text(&page, "", ", newest %s: %s",
                   format_age(&page, json_file_real(alarm, "t"), age),
                   json_file_text(alarm, "detail"));
    }
    (void)putchar('\n');
}

/* ---- all pairs ------------------------------------------------------------------------- */

struct totals {
    size_t levels[LEVEL_COUNT], online;
    size_t fits[COUNT(fit_verdicts) + 1]; /* the last: without a fit */
    size_t trusted, asked;
    long long alarms;
    json_t *newest, *newest_pair;                /* alarm */
    char fit_why[TEXT_MAX], trust_why[TEXT_MAX]; /* the first reason */
};

static void add_side(struct totals *t, json_t *pair, const char *side)
{
    const char *connection = json_file_text(json_object_get(pair, side), "connection");
    json_t *fits = json_object_get(pair, "travel_time");
    json_t *fit = json_object_get(fits, side);
    json_t *reason = json_array_get(json_object_get(fit, "reasons"), 0);
    size_t i = 0;
    t->online += strcmp(connection, "online") == 0;
    while (i < COUNT(fit_verdicts) &&
           strcmp(json_file_text(fit, "verdict"), fit_verdicts[i]) != 0) {
        i++;
    }
    t->fits[i] += fits != NULL;
    if (i > 0 && reason && !t->fit_why[0]) {
        (void)snprintf(t->fit_why, TEXT_MAX, "; %s %s: %s", json_file_text(pair, "id"), side,
                       json_string_value(reason));
    }
}

static void add_pair(const struct page *page, struct totals *t, json_t *pair)
{
    char why[TEXT_MAX];
    json_t *alarm = json_object_get(pair, "last_alarm");
    t->levels[judge_pair(page, pair, why)]++;
    t->alarms += count_of(pair, "alarms");
    if (json_is_object(alarm) &&
        !(t->newest && json_file_real(alarm, "t") <= json_file_real(t->newest, "t"))) {
        t->newest = alarm;
        t->newest_pair = pair;
    }
    add_side(t, pair, sides[0]);
    add_side(t, pair, sides[1]);
    if (json_object_get(pair, "forecast")) {
        const bool trusted = judge_trust(pair, why);
        t->asked++;
        t->trusted += trusted;
        if (!trusted && !t->trust_why[0]) {
            (void)snprintf(t->trust_why, TEXT_MAX, "; %s %.200s", json_file_text(pair, "id"),
                           why);
        }
    }
}

static void print_health(const struct page *page, json_t *status)
{
    const bool ready = json_is_true(json_object_get(status, "ready"));
    const double started_s = json_file_real(status, "started_t");
    const char *name = NULL;
    json_t *part = NULL;
    char age[32];
    print_label(page, "lab");
    paint_text(page, "", "%s: ", json_file_text(status, "lab"));
    paint_text(page, ready ? COLOUR_GREEN : COLOUR_RED, ready ? "OK" : "not ready");
    (void)printf(", started %s\n", format_age(page, started_s, age));
    json_object_foreach(json_object_get(status, "parts"), name, part) {
        if (!json_is_true(json_object_get(part, "ok"))) {
            print_line(page, name, COLOUR_RED, "%s", json_file_text(part, "text"));
        }
    }
}

static void print_totals(const struct page *page, const struct totals *t, json_t *document)
{
    json_t *lab_alarm = json_array_get(json_object_get(document, "alarms"), 0);
    json_t *pairs = json_object_get(document, "pairs");
    const char *before = ": ";
    char age[32];
    print_label(page, "pairs");
    (void)printf("%zu", json_array_size(pairs));
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        if (t->levels[i] > 0) {
            (void)fputs(before, stdout);
            paint_text(page, levels[i].colour, "%zu %s", t->levels[i], levels[i].words);
            before = ", ";
        }
    }
    (void)printf("; %zu of %zu robots online\n", t->online, 2 * json_array_size(pairs));
    print_verdicts(page, pairs);
    print_line(page, "calibration", "", "%zu PASS, %zu MARGINAL, %zu FAIL, %zu without a fit%s",
               t->fits[0], t->fits[1], t->fits[2], t->fits[3], t->fit_why);
    print_line(page, "trust", "", "%zu of %zu pairs%s", t->trusted, t->asked, t->trust_why);
    print_label(page, "alarms");
    (void)printf("%lld", t->alarms);
    if (t->newest) {
        paint_text(page, "", ", newest %s of %s %s", json_file_text(t->newest, "type"),
                   json_file_text(t->newest_pair, "id"),
                   format_age(page, json_file_real(t->newest, "t"), age));
    }
    if (lab_alarm) {
        paint_text(page, "", "; of the lab %s: %s",
                   format_age(page, json_file_real(lab_alarm, "t"), age),
                   json_file_text(lab_alarm, "detail"));
    }
    (void)putchar('\n');
}

/* Prints a line for each of the first pairs that are worse than OK. */
static void print_troubled(const struct page *page, json_t *pairs, size_t troubled)
{
    size_t shown = 0;
    for (enum level level = TROUBLE; level < WELL; level++) {
        size_t at = 0;
        json_t *pair = NULL;
        json_array_foreach(pairs, at, pair) {
            char why[TEXT_MAX];
            if (shown < TROUBLED_MAX && judge_pair(page, pair, why) == level) {
                print_line(page, json_file_text(pair, "id"), levels[level].colour, "%s", why);
                shown++;
            }
        }
    }
    if (troubled > shown) {
        (void)printf("%13sand %zu more: see --json\n", "", troubled - shown);
    }
}

void status_page_print(json_t *document, bool colour)
{
    json_t *status = json_object_get(document, "status");
    json_t *pairs = json_object_get(document, "pairs");
    const struct page page = {colour, json_file_real(status, "t")};
    struct totals totals = {0};
    size_t at = 0;
    json_t *pair = NULL;
    json_array_foreach(pairs, at, pair) {
        add_pair(&page, &totals, pair);
    }
    print_health(&page, status);
    print_totals(&page, &totals, document);
    print_troubled(&page, pairs, totals.levels[TROUBLE] + totals.levels[WATCH]);
}
