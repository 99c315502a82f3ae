#include "service/evidence/compare_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "service/evidence/compare_thresholds.def"
#include "twin/pair/pair_params.h"

double compare_round(double value)
{
    return rint(value * 1e9) / 1e9;
}

/* ---- text ---------------------------------------------------------------------------------
 */

/* Each cell begins with its own gap. */
enum { LABEL = 23, LONG_LABEL = 31, VERSIONS_SHOWN = 512 };

static void print_label(FILE *out, int width, const char *label)
{
    (void)fprintf(out, "  %-*s", width - 2, label);
}

static void print_count(FILE *out, const char *name, uint64_t a, uint64_t b)
{
    (void)fprintf(out, "  %s %llu → %llu", name, (unsigned long long)a, (unsigned long long)b);
}

/* Prints an interval, unless neither end is known: differences with a sign and one decimal. */
static void print_interval(FILE *out, double scale, int decimals, double lo, double hi)
{
    if (isfinite(lo) || isfinite(hi)) {
        (void)fprintf(out, decimals > 1 ? "  95 %% [%.*f, %.*f]" : "  95 %% [%+.*f, %+.*f]",
                      decimals, scale * lo, decimals, scale * hi);
    }
}

static void print_verdicts(const struct comparison *c, bool all, FILE *out)
{
    if (all || comparison_verdicts_differ(c)) {
        print_label(out, LABEL, "verdicts");
        for (enum verdict v = 0; v < VERDICT_COUNT; v++) {
            if (c->verdicts[v][IN_A] + c->verdicts[v][IN_B] > 0) {
                print_count(out, verdict_name(v), c->verdicts[v][IN_A], c->verdicts[v][IN_B]);
            }
        }
        (void)fputc('\n', out);
    }
    if (all || c->inconsistent[IN_A] != c->inconsistent[IN_B]) {
        print_label(out, LABEL, "replies");
        print_count(out, "inconsistent", c->inconsistent[IN_A], c->inconsistent[IN_B]);
        (void)fputc('\n', out);
    }
}

/* Always printed: times exclude commands without an answer, shares count them. */
static void print_share(const struct comparison *c, FILE *out)
{
    print_label(out, LABEL, "share of SYNC");
    (void)fprintf(out, "  %.1f %% → %.1f %%   difference %+.1f points", 100.0 * c->sync_a,
                  100.0 * c->sync_b, 100.0 * c->sync_difference.value);
    print_interval(out, 100.0, 1, c->sync_difference.lo, c->sync_difference.hi);
    (void)fputc('\n', out);
}

static void print_shift(const char *name, const struct compared_shift *s, FILE *out)
{
    print_label(out, LABEL, name);
    if (s->why) {
        (void)fprintf(out, "  %s (%zu)\n", s->why, s->n[IN_A]);
        return;
    }
    (void)fprintf(out, "  %+8.1f ms", 1000.0 * s->shift.value);
    print_interval(out, 1000.0, 1, s->shift.lo, s->shift.hi);
    if (s->method == SHIFT_PAIRED) {
        (void)fprintf(out, "    larger in %.0f %% of %zu commands", 100.0 * s->larger.value,
                      s->n[IN_A]);
    } else if (s->method == SHIFT_SAME_RECORDING) {
        (void)fprintf(out, "  differs in %zu of %zu commands", s->changed, s->n[IN_A]);
    } else if (s->method == SHIFT_UNPAIRED) {
        (void)fprintf(out, "    larger with probability %.2f [%.2f, %.2f]",
                      s->superiority.value, s->superiority.lo, s->superiority.hi);
    }
    if (s->shift.neighbours > NEIGHBOURS_MAX) {
        (void)fputs("    neighbouring differences are correlated: repeat the run", out);
    }
    (void)fputc('\n', out);
}

static void print_term(enum side side, const struct compared_term *t, FILE *out)
{
    char label[ESTIMATE_NAME_MAX + 16];
    (void)snprintf(label, sizeof label, "%s %s", side_name(side), t->name);
    print_label(out, LONG_LABEL, label);
    (void)fprintf(out, "  %.4f → %.4f", t->a, t->b);
    if (t->is_ratio) {
        (void)fprintf(out, "  times %.4f", t->value);
        print_interval(out, 1.0, 4, t->lo, t->hi);
    } else {
        (void)fprintf(out, "  %+.1f ms", 1000.0 * t->value);
        print_interval(out, 1000.0, 1, t->lo, t->hi);
    }
    (void)fputs(t->changed ? "   changed\n" : "\n", out);
}

static void print_fits(const struct comparison *c, enum side side, bool all, FILE *out)
{
    bool shown = false;
    for (size_t i = 0; i < c->term_count[side]; i++) {
        if (all || c->terms[side][i].changed) {
            print_term(side, &c->terms[side][i], out);
            shown = true;
        }
    }
    for (size_t which = IN_A; which <= IN_B && shown; which++) {
        if (c->commands[which] > PAIR_WINDOW_MAX) {
            print_label(out, LONG_LABEL, "");
            (void)fprintf(out, "  %s: of the last %zu of %zu\n", which == IN_A ? "A" : "B",
                          c->fit_moves[side][which], c->commands[which]);
        }
    }
}

/* Types of alarms in the order of their names. */
static void sort_alarms(struct name_at order[ALARM_TYPE_COUNT])
{
    for (enum alarm_type i = 0; i < ALARM_TYPE_COUNT; i++) {
        order[i] = (struct name_at){alarm_type_name(i), i};
    }
    qsort(order, ALARM_TYPE_COUNT, sizeof *order, names_by_name);
}

static void print_alarms(const struct comparison *c, bool all, FILE *out)
{
    struct name_at order[ALARM_TYPE_COUNT];
    char appeared[256] = "";
    bool shown = false;
    sort_alarms(order);
    for (size_t i = 0; i < ALARM_TYPE_COUNT; i++) {
        const uint64_t *n = c->alarms[order[i].at];
        if (n[IN_A] != n[IN_B] || (all && n[IN_A] > 0)) {
            if (!shown) {
                print_label(out, LABEL, "alarms");
            }
            print_count(out, order[i].name, n[IN_A], n[IN_B]);
            shown = true;
        }
        if (n[IN_A] == 0 && n[IN_B] > 0) {
            names_append(appeared, sizeof appeared, order[i].name);
        }
    }
    if (shown) {
        (void)fprintf(out, "%s%s\n", appeared[0] ? "   new: " : "", appeared);
    }
}

/* Appends the versions of a side's commands, each once. Returns whether any is known. */
static bool list_versions(const struct recorded_pair *pair, enum side side, char *list,
                          size_t size)
{
    size_t at = 0;
    bool known = false;
    const char *text = NULL;
    list[0] = '\0';
    while ((text = recorded_pair_next_version(pair, side, &at))) {
        names_append(list, size, text[0] ? text : "unknown");
        known = known || text[0];
    }
    return known;
}

/* Other versions are what the comparison is about, but no difference by themselves. */
static void print_versions(const struct recorded_pair *a, const struct recorded_pair *b,
                           bool all, FILE *out)
{
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        char text[2][VERSIONS_SHOWN];
        const bool in_a = list_versions(a, s, text[0], sizeof text[0]);
        const bool in_b = list_versions(b, s, text[1], sizeof text[1]);
        if ((in_a || in_b) && (all || strcmp(text[0], text[1]) != 0)) {
            print_label(out, LABEL, "version");
            (void)fprintf(out, "%s %s → %s\n", side_name(s), utf8_tame(text[0]),
                          utf8_tame(text[1]));
        }
    }
}

void compare_print_text(const char *id, const struct recorded_pair *a,
                        const struct recorded_pair *b, const struct comparison *c, bool all,
                        FILE *out)
{
    if (!all && !comparison_differs(c)) {
        return;
    }
    (void)fprintf(out, "%s: %zu and %zu commands, %zu in both (by %s)\n", id, c->commands[IN_A],
                  c->commands[IN_B], c->alignment.count,
                  alignment_rule_name(c->alignment.rule));
    if (c->why) {
        (void)fprintf(out, "  %s\n", c->why);
    }
    print_versions(a, b, all, out);
    print_verdicts(c, all, out);
    if (c->commands[IN_A] == 0 || c->commands[IN_B] == 0) {
        print_alarms(c, all, out);
        return;
    }
    print_share(c, out);
    for (enum compared_time t = TIME_LAG; t < TIME_COUNT; t++) {
        const struct compared_shift *s = &c->shift[t];
        if (all || comparison_shift_is_unknown(s) || comparison_shift_differs(s)) {
            print_shift(compared_time_name(t), s, out);
        }
    }
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        print_fits(c, s, all, out);
    }
    print_alarms(c, all, out);
}

/* ---- JSON ---------------------------------------------------------------------------------
 */

static void write_only(struct json_writer *w, const struct recorded_pair *const pairs[2],
                       const struct comparison *c)
{
    if (c->alignment.rule == ALIGNED_NOT) {
        json_write_null(w, "only");
        return;
    }
    JSON_LIST(w, "only", size_t which = IN_A; which <= IN_B; which++) {
        JSON_LIST(w, NULL, size_t i = 0; i < c->only_count[which]; i++) {
            const char *id = pairs[which]->commands[c->only[which][i]].id;
            json_write_text(w, NULL, id[0] ? id : NULL);
        }
    }
}

static void write_verdicts(struct json_writer *w, const struct comparison *c)
{
    char change[64];
    JSON_MAP(w, "verdicts", enum verdict v = 0; v < VERDICT_COUNT; v++) {
        if (c->verdicts[v][IN_A] + c->verdicts[v][IN_B] > 0) {
            JSON_WRITE(w, COMPARE_COUNTS(verdict_name(v), c->verdicts[v]));
        }
    }
    JSON_WRITE(w, COMPARE_COUNTS("inconsistent", c->inconsistent),
               JSON_OBJECT("timeout_side", COMPARE_COUNTS("real", c->timeouts[0]),
                           COMPARE_COUNTS("virtual", c->timeouts[1]),
                           COMPARE_COUNTS("both", c->timeouts[2])));
    JSON_MAP(w, "changes", enum verdict from = 0; from < VERDICT_COUNT; from++) {
        for (enum verdict to = 0; to < VERDICT_COUNT; to++) {
            if (c->changes[from][to] > 0) {
                (void)snprintf(change, sizeof change, "%s>%s", verdict_name(from),
                               verdict_name(to));
                json_write_int(w, change, (int64_t)c->changes[from][to]);
            }
        }
    }
}

static void write_share(struct json_writer *w, const struct comparison *c)
{
    const struct share *d = &c->sync_difference;
    JSON_WRITE_OBJECT(w, "sync_share", COMPARE_REAL("a", c->sync_a),
                      COMPARE_REAL("b", c->sync_b), COMPARE_REAL("difference", d->value),
                      isfinite(d->lo) ? COMPARE_TWO("ci95", d->lo, d->hi) : JSON_NULL("ci95"),
                      JSON_IF(c->alignment.rule != ALIGNED_NOT,
                              JSON_GROUP(JSON_WHOLE("lost", c->sync.only_a),
                                         JSON_WHOLE("gained", c->sync.only_b),
                                         COMPARE_REAL("p", c->sync_p))));
}

static void write_shift(struct json_writer *w, const char *key, bool matched,
                        const struct compared_shift *s)
{
    const bool known = !s->why && s->method != SHIFT_SAME_RECORDING;
    JSON_OPEN(w, key, matched ? JSON_WHOLE("n", s->n[IN_A]) : COMPARE_COUNTS("n", s->n),
              JSON("method", s->why ? NULL : shift_method_name(s->method)),
              COMPARE_REAL("shift", s->shift.value),
              known ? COMPARE_TWO("ci95", s->shift.lo, s->shift.hi) : JSON_NULL("ci95"));
    if (s->method == SHIFT_SAME_RECORDING) {
        JSON_WRITE(w, JSON_WHOLE("changed", s->changed));
    } else if (s->method == SHIFT_PAIRED) {
        JSON_WRITE(w, COMPARE_REAL("serial", s->shift.inflation),
                   COMPARE_REAL("larger", s->larger.value),
                   COMPARE_TWO("larger_ci95", s->larger.lo, s->larger.hi));
    } else if (s->method == SHIFT_UNPAIRED) {
        JSON_WRITE(w, COMPARE_REAL("superiority", s->superiority.value),
                   COMPARE_TWO("superiority_ci95", s->superiority.lo, s->superiority.hi));
    }
    JSON_WRITE(w, JSON_IF(s->why, JSON("why", s->why)));
    json_write_close(w);
}

static void write_term(struct json_writer *w, const struct compared_term *t)
{
    JSON_WRITE_OBJECT(w, t->name, COMPARE_REAL("a", t->a), COMPARE_REAL("b", t->b),
                      COMPARE_REAL(t->is_ratio ? "ratio" : "difference", t->value),
                      COMPARE_TWO("ci95", t->lo, t->hi), COMPARE_REAL("p", t->p),
                      JSON("changed", t->changed));
}

static void write_calibration(struct json_writer *w, const struct comparison *c)
{
    JSON_MAP(w, "calibration", enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        if (c->fit_moves[s][IN_A] > 0) {
            JSON_MAP(w, side_name(s), size_t i = 0; i < c->term_count[s]; i++) {
                write_term(w, &c->terms[s][i]);
            }
        }
    }
}

/* Writes the types of alarms that only this recording has. */
static void write_alarm_types(struct json_writer *w, const char *key,
                              const struct comparison *c, const struct name_at *order,
                              size_t which)
{
    JSON_LIST(w, key, size_t i = 0; i < ALARM_TYPE_COUNT; i++) {
        const uint64_t *n = c->alarms[order[i].at];
        if (n[which] > 0 && n[1 - which] == 0) {
            json_write_text(w, NULL, order[i].name);
        }
    }
}

static void write_alarms(struct json_writer *w, const struct comparison *c)
{
    struct name_at order[ALARM_TYPE_COUNT];
    sort_alarms(order);
    JSON_MAP(w, "alarms", size_t i = 0; i < ALARM_TYPE_COUNT; i++) {
        const uint64_t *n = c->alarms[order[i].at];
        if (n[IN_A] + n[IN_B] > 0) {
            JSON_WRITE(w, COMPARE_COUNTS(order[i].name, n));
        }
    }
    write_alarm_types(w, "alarms_new", c, order, IN_B);
    write_alarm_types(w, "alarms_gone", c, order, IN_A);
}

/* Lists the versions of each side's commands, in A and in B; null for an unknown one. */
static void write_versions(struct json_writer *w, const struct recorded_pair *const pairs[2])
{
    if (pairs[IN_A]->version_count + pairs[IN_B]->version_count == 0) {
        return;
    }
    JSON_MAP(w, "versions", enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        JSON_LIST(w, side_name(s), size_t which = IN_A; which <= IN_B; which++) {
            const char *text = NULL;
            JSON_LIST(w, NULL, size_t at = 0;
                      (text = recorded_pair_next_version(pairs[which], s, &at));) {
                json_write_text(w, NULL, text[0] ? text : NULL);
            }
        }
    }
}

void compare_print_json(struct json_writer *w, const char *id, const struct recorded_pair *a,
                        const struct recorded_pair *b, const struct comparison *c)
{
    const struct recorded_pair *const pairs[] = {a, b};
    const bool known = a->count > 0 && b->count > 0;
    JSON_OPEN(w, id, JSON("matched_by", alignment_rule_name(c->alignment.rule)),
              COMPARE_COUNTS("commands", c->commands),
              JSON_WHOLE("matched", c->alignment.count));
    write_only(w, pairs, c);
    write_versions(w, pairs);
    write_verdicts(w, c);
    if (known) {
        write_share(w, c);
    } else {
        json_write_null(w, "sync_share");
    }
    JSON_MAP(w, "shift", enum compared_time t = TIME_LAG; t < TIME_COUNT && known; t++) {
        write_shift(w, compared_time_name(t), c->alignment.rule != ALIGNED_NOT, &c->shift[t]);
    }
    write_calibration(w, c);
    write_alarms(w, c);
    JSON_WRITE(w, JSON_IF(c->why, JSON("why", c->why)));
    json_write_close(w);
}
