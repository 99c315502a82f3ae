#include "service/identify/estimate_page.h"

#include <math.h>

/* A wider matrix fits on no line. */
enum { CORRELATED_MAX = 12 };

/* Prints a number with significant digits; a dash if it is unknown. */
static void print_number(FILE *out, int width, int digits, double value)
{
    if (isnan(value)) {
        (void)fprintf(out, " %*s", width, "-");
    } else {
        (void)fprintf(out, " %*.*g", width, digits, value);
    }
}

/* Prints an error as a ratio of its value: one digit for 0.02 %, none for ten times the
 * value. */
static void print_share(FILE *out, double se, double value)
{
    const double percent = 100.0 * se / fabs(value);
    if (percent < 0.005) {
        (void)fprintf(out, " %7s %%", "< 0.01");
    } else if (percent <= 1000.0) {
        (void)fprintf(out, " %7.*f %%", percent < 0.995 ? 2 : 1, percent);
    } else {
        (void)fprintf(out, " %7s %%", isnan(percent) ? "-" : "> 1000");
    }
}

static void print_interval(FILE *out, double lo, double hi)
{
    (void)fputc(' ', out);
    print_number(out, 10, 5, lo);
    (void)fputs(" ..", out);
    print_number(out, -10, 5, hi);
}

/* Prints the worst reason and all notes, or all other reasons; returns how many it left out. */
static size_t print_reasons(FILE *out, const struct estimate *estimate, bool others)
{
    size_t left_out = 0;
    const char *before = others ? "\n" : "";
    bool first = true;
    for (size_t i = 0; i < estimate->reason_count; i++) {
        const bool note = estimate->reason_verdicts[i] == ESTIMATE_PASS;
        const bool other = !note && !first;
        first = first && note;
        left_out += other != others;
        if (other == others) {
            (void)fprintf(out, "%s  %s %s [%s]\n", before, note ? "note:" : "because",
                          estimate->reasons[i], reason_code_name(estimate->reason_codes[i]));
            before = "";
        }
    }
    return left_out;
}

void estimate_page_verdict(FILE *out, const struct estimate *estimate)
{
    (void)fprintf(out, ": %s\n", estimate_verdict_name(estimate->verdict));
    const size_t left_out = print_reasons(out, estimate, false);
    if (left_out > 0) {
        (void)fprintf(out, "  and %zu more reason%s, see --details\n", left_out,
                      left_out == 1 ? "" : "s");
    }
    for (size_t i = 0; i < estimate->advice_count; i++) {
        (void)fprintf(out, "  advice: %s\n", estimate->advice[i]);
    }
}

void estimate_page_head(FILE *out)
{
    (void)fprintf(out, "\n  %-4s %-26s %10s %9s  %-23s %9s\n", "", "parameter", "estimate",
                  "error", "95 % interval", "relative");
}

void estimate_page_row(FILE *out, const char *symbol, const char *name, double value, double se,
                       double lo, double hi, const char *note)
{
    (void)fprintf(out, "  %-4s %-26s", symbol, name);
    if (!isfinite(value)) {
        (void)fprintf(out, " %10s\n", "unknown");
        return;
    }
    (void)fprintf(out, " %10.5g", value);
    print_number(out, 9, 3, se);
    print_interval(out, lo, hi);
    print_share(out, se, value);
    (void)fprintf(out, "%s%s\n", *note ? "  " : "", note);
}

void estimate_page_parameter(FILE *out, const struct estimate *e, size_t i, const char *note)
{
    estimate_page_row(out, e->symbol[i], e->name[i], e->value[i], e->se[i], e->lo[i], e->hi[i],
                      e->identifiable[i] ? note : "not identifiable");
    if (isfinite(e->lo_open[i]) || isfinite(e->hi_open[i])) {
        (void)fprintf(out, "  %-4s %-47s", "", "  with effects that are not excluded");
        print_interval(out, e->lo_open[i], e->hi_open[i]);
        (void)fputc('\n', out);
    }
}

void estimate_page_parameters(FILE *out, const struct estimate *e)
{
    estimate_page_head(out);
    for (size_t i = 0; i < e->p; i++) {
        estimate_page_parameter(out, e, i, "");
    }
}

/* Prints the lower triangle of the matrix. */
static void print_correlation(FILE *out, const struct estimate *estimate)
{
    (void)fputs("\n  correlation of the estimates\n      ", out);
    for (size_t i = 0; i + 1 < estimate->p; i++) {
        (void)fprintf(out, " %6s", estimate->symbol[i]);
    }
    for (size_t i = 1; i < estimate->p; i++) {
        (void)fprintf(out, "\n  %-4s", estimate->symbol[i]);
        for (size_t j = 0; j < i; j++) {
            const double c = estimate_correlation(estimate, i, j);
            (void)(isnan(c) ? fprintf(out, " %6s", "-") : fprintf(out, " %6.2f", c));
        }
    }
    (void)fputc('\n', out);
}

void estimate_page_rank(FILE *out, const struct estimate *estimate)
{
    (void)fprintf(out, "  scaled condition number %.3g, rank %zu of %zu\n", estimate->condition,
                  estimate->rank, estimate->p);
    for (size_t i = 0; i < estimate->null_count; i++) {
        (void)fprintf(out, "  free: %s\n", estimate->nulls[i]);
    }
    for (size_t i = 0; i < estimate->combination_count; i++) {
        const struct estimate_combination *c = &estimate->combinations[i];
        if (isfinite(c->value)) {
            (void)fprintf(out, "  determined: %s = %.5g, error %.3g\n", c->name, c->value,
                          c->se);
        }
    }
}

void estimate_page_print(FILE *out, const struct estimate *estimate)
{
    estimate_page_verdict(out, estimate);
    estimate_page_parameters(out, estimate);
    estimate_page_rank(out, estimate);
}

void estimate_page_details(FILE *out, const struct estimate *estimate)
{
    (void)print_reasons(out, estimate, true);
    if (estimate->p > 1 && estimate->p <= CORRELATED_MAX) {
        print_correlation(out, estimate);
    }
}
