#include "service/evidence/gate_print.h"

#include <math.h>
#include <string.h>

#include "service/evidence/compare_print.h"
#include "service/evidence/compare_thresholds.def"
#include "service/tool/json_file.h"
#include "twin/report/svg_text.h"

/* Do neighbours inflate the variance so much that blocks are needed? */
static bool has_neighbours(const struct gate_test *t)
{
    return t->inflation > GATE_SERIAL_SHOWN;
}

/* ---- reasons ------------------------------------------------------------------------------
 */

enum gate_reason { BECAUSE_REAL_CHANGED, BECAUSE_TOO_FEW, BECAUSE_NOT_COMPARED, BECAUSE_COUNT };

static const char *const reason_texts[] = {
    "the real robot changed itself: ", "too few commands: ", "not compared: "};

enum { REASON_MAX = 512 };

static void append_test(char *list, const char *id, enum gate_metric metric)
{
    char name[128];
    (void)snprintf(name, sizeof name, "%s %s", id, gate_metric_name(metric));
    names_append(list, REASON_MAX, name);
}

static bool is_about(const struct gate_report *r, size_t i, enum gate_metric m,
                     enum gate_reason reason)
{
    const struct gate_pair *pair = &r->pairs[i];
    const enum gate_outcome outcome = pair->test[m].outcome;
    return reason == BECAUSE_REAL_CHANGED ? outcome == GATE_FAIL && !gate_is_blamed(pair, m)
                                          : outcome == GATE_UNDECIDED && r->options->needed[m];
}

/* Lists what a reason is about: pairs, or metrics of pairs. If the candidate is worse, it does
 * not matter what else is open. */
static void list_reason(const struct gate_report *r, enum gate_reason reason,
                        char list[REASON_MAX])
{
    const bool silent = r->result.outcome == GATE_FAIL && reason != BECAUSE_NOT_COMPARED;
    list[0] = '\0';
    for (size_t i = 0; i < r->count && !silent; i++) {
        const bool compared = r->pairs[i].compared;
        if (reason == BECAUSE_NOT_COMPARED && !compared) {
            names_append(list, REASON_MAX, r->ids[i]);
        }
        for (enum gate_metric m = 0;
             m < GATE_METRIC_COUNT && compared && reason != BECAUSE_NOT_COMPARED; m++) {
            if (is_about(r, i, m, reason) && reason == BECAUSE_TOO_FEW) {
                append_test(list, r->ids[i], m);
            } else if (is_about(r, i, m, reason)) {
                names_append_new(list, REASON_MAX, r->ids[i]);
            }
        }
    }
}

/* ---- text ---------------------------------------------------------------------------------
 */

static void print_number(double scale, double value, FILE *out)
{
    if (isfinite(value)) {
        (void)fprintf(out, "%+.1f", scale * value);
    } else {
        (void)fputc('-', out);
    }
}

static void print_test(const struct gate_report *r, const struct gate_test *t,
                       enum gate_metric m, FILE *out)
{
    const bool needed = r->options->needed[m];
    const double scale = m == GATE_ABS_LAG ? 1000.0 : 100.0;
    (void)fprintf(out, "  %-20s %-9s rise ", gate_metric_name(m),
                  needed || t->outcome != GATE_UNDECIDED ? gate_outcome_name(t->outcome) : "-");
    print_number(scale, t->rise, out);
    (void)fputs(m == GATE_ABS_LAG ? " ms  [" : " points  [", out);
    print_number(scale, t->lo, out);
    (void)fputs(", ", out);
    print_number(scale, t->hi, out);
    (void)fprintf(out, "]  margin %.3g  %zu units", scale * t->margin, t->n);
    if (t->left_out > 0) {
        (void)fprintf(out, ", %zu commands left out", t->left_out);
    }
    if (t->worse_since > 1) {
        (void)fprintf(out, "  worse since %zu", t->worse_since);
    }
    if (t->more > 0 && needed) {
        (void)fprintf(out, "  about %zu more", t->more);
    }
    (void)fputs(has_neighbours(t) ? "  neighbouring commands are alike; see --block\n" : "\n",
                out);
}

void gate_print_text(const struct gate_report *report, FILE *out)
{
    const struct gate_report *r = report;
    const char *gap = " (";
    for (size_t i = 0; i < r->count; i++) {
        const struct gate_pair *p = &r->pairs[i];
        (void)fprintf(out, "%s: %zu and %zu commands, %zu in both (by %s)\n", r->ids[i],
                      p->commands[0], p->commands[1], p->matched, alignment_rule_name(p->rule));
        if (!p->compared) {
            (void)fprintf(out, "  %s\n", p->why);
            continue;
        }
        for (enum gate_metric m = 0; m < GATE_METRIC_COUNT; m++) {
            print_test(r, &p->test[m], m, out);
        }
        if (p->real_changed) {
            (void)fprintf(
                out,
                "  the real robot itself changed by %+.1f ms: record the reference again\n",
                1000.0 * p->real_rise);
        }
    }
    (void)fputs(r->result.usable > 0 ? gate_outcome_name(r->result.outcome)
                                     : "no pair can be compared",
                out);
    for (enum gate_reason reason = 0; reason < BECAUSE_COUNT && r->result.usable > 0;
         reason++) {
        char list[REASON_MAX];
        list_reason(r, reason, list);
        if (list[0]) {
            (void)fprintf(out, "%s%s%s", gap, reason_texts[reason], list);
            gap = "; ";
        }
    }
    (void)fputs(gap[0] == ';' ? ")\n" : "\n", out);
}

/* ---- JSON ---------------------------------------------------------------------------------
 */

static struct json_row count_row(const char *key, size_t count)
{
    return count > 0 ? JSON_WHOLE(key, count) : JSON_NULL(key);
}

static void write_test(struct json_writer *w, const struct gate_test *t, enum gate_metric m,
                       bool needed)
{
    JSON_WRITE_OBJECT(
        w, gate_metric_name(m), JSON("role", needed ? "need" : "guard"),
        JSON("margin", t->margin), COMPARE_REAL("clip", t->clip), JSON_WHOLE("n", t->n),
        JSON_WHOLE("left_out", t->left_out), COMPARE_REAL("rise", t->rise),
        COMPARE_TWO("interval", t->lo, t->hi), JSON_WHOLE("clipped", t->clipped),
        COMPARE_REAL("serial", t->inflation), COMPARE_REAL("log_e_pass", t->log_e_pass),
        COMPARE_REAL("log_e_fail", t->log_e_fail), count_row("pass_at", t->pass_at),
        count_row("fail_at", t->fail_at), count_row("worse_since", t->worse_since),
        JSON("outcome", gate_outcome_name(t->outcome)), count_row("more", t->more));
}

static void write_pair(struct json_writer *w, const struct gate_report *r, size_t i)
{
    const struct gate_pair *p = &r->pairs[i];
    JSON_OPEN(w, r->ids[i], JSON("matched_by", alignment_rule_name(p->rule)),
              COMPARE_COUNTS("commands", p->commands), JSON_WHOLE("matched", p->matched));
    JSON_MAP(w, "metrics", enum gate_metric m = 0; m < GATE_METRIC_COUNT && p->compared; m++) {
        write_test(w, &p->test[m], m, r->options->needed[m]);
    }
    JSON_WRITE(w, p->compared ? JSON_OBJECT("real", COMPARE_REAL("rise", p->real_rise),
                                            JSON("changed", p->real_changed))
                              : JSON("why", p->why));
    json_write_close(w);
}

static void write_reasons(struct json_writer *w, const struct gate_report *r)
{
    char list[REASON_MAX];
    char text[REASON_MAX + 128];
    JSON_LIST(w, "reasons", enum gate_reason reason = 0; reason < BECAUSE_COUNT; reason++) {
        list_reason(r, reason, list);
        (void)snprintf(text, sizeof text, "%s%s", reason_texts[reason], list);
        if (list[0]) {
            json_write_text(w, NULL, text);
        }
    }
    JSON_LIST(w, "failed", size_t i = 0; i < r->count; i++) {
        for (enum gate_metric m = 0; m < GATE_METRIC_COUNT; m++) {
            if (gate_is_blamed(&r->pairs[i], m)) {
                list[0] = '\0';
                append_test(list, r->ids[i], m);
                json_write_text(w, NULL, list);
            }
        }
    }
}

static void write_report(const void *what, struct json_writer *w)
{
    const struct gate_report *r = what;
    JSON_WRITE(w, JSON("a", r->a), JSON("b", r->b), JSON("alpha", r->options->alpha),
               JSON("block", r->options->block_text));
    JSON_MAP(w, "pairs", size_t i = 0; i < r->count; i++) {
        write_pair(w, r, i);
    }
    if (r->result.usable == 0) {
        JSON_WRITE(w, JSON_NULL("outcome"), JSON("why", "no pair can be compared"));
    } else {
        json_write_text(w, "outcome", gate_outcome_name(r->result.outcome));
        write_reasons(w, r);
    }
}

void gate_print_json(const struct gate_report *report, FILE *out)
{
    json_file_print(out, write_report, report);
}

/* ---- JUnit --------------------------------------------------------------------------------
 */

static void format_number(double value, char text[32])
{
    const bool is_whole = !(fabs(value - rint(value)) > 0.0);
    (void)snprintf(text, 32, !isfinite(value) ? "None" : is_whole ? "%.1f" : "%.9g", value);
}

static const char *find_element(const struct gate_report *r, size_t i, enum gate_metric m)
{
    const enum gate_outcome outcome = r->pairs[i].test[m].outcome;
    const bool open = outcome == GATE_UNDECIDED && r->options->needed[m];
    return gate_is_blamed(&r->pairs[i], m) ? "failure type=\"worse\""
           : outcome == GATE_FAIL || open  ? "skipped"
                                           : NULL;
}

static void print_case(const struct svg_text *xml, const struct gate_report *r, size_t i,
                       enum gate_metric m)
{
    const struct gate_test *t = &r->pairs[i].test[m];
    const char *element = find_element(r, i, m);
    char numbers[3][32];
    char text[192];
    format_number(compare_round(t->rise), numbers[0]);
    format_number(compare_round(t->lo), numbers[1]);
    format_number(compare_round(t->hi), numbers[2]);
    (void)snprintf(text, sizeof text, "rise %s, 95 %% bounds [%s, %s], margin %g, %zu units",
                   numbers[0], numbers[1], numbers[2], t->margin, t->n);
    svg_printf(xml, "  <testcase classname=\"");
    svg_print_escaped(xml, r->ids[i]);
    svg_printf(xml, "\" name=\"%s\">", gate_metric_name(m));
    if (element) {
        svg_printf(xml, "<%s message=\"%s%s\"/>", element,
                   strcmp(element, "skipped") != 0 ? ""
                   : t->outcome == GATE_FAIL       ? "fail: "
                                                   : "undecided: ",
                   text);
    }
    svg_printf(xml, "<system-out>%s</system-out></testcase>\n", text);
}

static void print_error(const struct svg_text *xml, const struct gate_report *r, size_t i)
{
    svg_printf(xml, "  <testcase classname=\"");
    svg_print_escaped(xml, r->ids[i]);
    svg_printf(xml, "\" name=\"alignment\"><error type=\"alignment\" message=\"");
    svg_print_escaped(xml, r->pairs[i].why);
    svg_printf(xml, "\"/></testcase>\n");
}

void gate_print_junit(const struct gate_report *report, FILE *out)
{
    const struct svg_text xml = {json_file_flush, out};
    size_t tests = 0;
    size_t failures = 0;
    size_t skipped = 0;
    size_t errors = 0;
    for (size_t i = 0; i < report->count; i++) {
        errors += !report->pairs[i].compared;
        for (enum gate_metric m = 0; m < GATE_METRIC_COUNT && report->pairs[i].compared; m++) {
            const char *element = find_element(report, i, m);
            tests++;
            failures += element && element[0] == 'f';
            skipped += element && element[0] == 's';
        }
    }
    svg_printf(&xml,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"tandem gate\" "
               "tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
               tests + errors, failures, errors, skipped);
    for (size_t i = 0; i < report->count; i++) {
        for (enum gate_metric m = 0; m < GATE_METRIC_COUNT && report->pairs[i].compared; m++) {
            print_case(&xml, report, i, m);
        }
        if (!report->pairs[i].compared) {
            print_error(&xml, report, i);
        }
    }
    svg_printf(&xml, "</testsuite>\n");
}
