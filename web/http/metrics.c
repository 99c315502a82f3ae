#include "web/http/metrics.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "logger/message/json_write.h"

static bool is_name(const char *name)
{
    if (!(name[0] >= 'a' && name[0] <= 'z')) {
        return false;
    }
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

static bool ends_in_total(const char *name)
{
    const size_t n = strlen(name);
    return n > 6 && strcmp(name + n - 6, "_total") == 0;
}

/* Backslash and line feed are escaped everywhere, the double quote in label values. */
static void write_escaped(struct body *out, const char *text, bool quote)
{
    for (const char *p = text; *p; p++) {
        if (*p == '\\') {
            body_append(out, "\\\\", 2);
        } else if (*p == '\n') {
            body_append(out, "\\n", 2);
        } else if (quote && *p == '"') {
            body_append(out, "\\\"", 2);
        } else {
            body_append(out, p, 1);
        }
    }
}

static void write_head(struct metrics *m, const char *name, const char *type, const char *help)
{
    assert(is_name(name));
    assert(strlen(name) < sizeof m->family);
    (void)snprintf(m->family, sizeof m->family, "%s", name);
    body_format(m->out, "# HELP %s ", name);
    write_escaped(m->out, help, false);
    body_format(m->out, "\n# TYPE %s %s\n", name, type);
}

void metrics_family(struct metrics *m, const char *name, const char *help)
{
    write_head(m, name, ends_in_total(name) ? "counter" : "gauge", help);
}

static void write_series(struct metrics *m, const struct metric_label *labels, size_t count)
{
    assert(m->family[0]);
    body_text(m->out, m->family);
    for (size_t i = 0; i < count; i++) {
        assert(is_name(labels[i].name));
        body_format(m->out, "%s%s=\"", i == 0 ? "{" : ",", labels[i].name);
        write_escaped(m->out, labels[i].value, true);
        body_append(m->out, "\"", 1);
    }
    body_text(m->out, count > 0 ? "} " : " ");
}

void metrics_sample(struct metrics *m, const struct metric_label *labels, size_t count,
                    double value)
{
    if (!isfinite(value)) {
        return;
    }
    char number[JSON_WRITE_NUMBER_MAX];
    const size_t n = json_format_real(value, number);
    write_series(m, labels, count);
    body_append(m->out, number, n);
    body_append(m->out, "\n", 1);
}

void metrics_count(struct metrics *m, const struct metric_label *labels, size_t count,
                   uint64_t value)
{
    write_series(m, labels, count);
    body_format(m->out, "%" PRIu64 "\n", value);
}

/* Writes the common suffix of the family's series. */
static void end_names(struct metrics *m, const char *name, const char *end)
{
    const int n = snprintf(m->family, sizeof m->family, "%s%s", name, end);
    assert(n > 0 && (size_t)n < sizeof m->family);
}

void metrics_histogram(struct metrics *m, const char *name, const char *help,
                       const double *bound, const uint64_t *value, size_t count, double sum)
{
    uint64_t below = 0;
    write_head(m, name, "histogram", help);
    end_names(m, name, "_bucket");
    for (size_t k = 0; k <= count; k++) {
        char text[JSON_WRITE_NUMBER_MAX + 1] = "+Inf";
        if (k < count) {
            text[json_format_real(bound[k], text)] = '\0';
        }
        below += value[k];
        metrics_count(m, (struct metric_label[]){{"le", text}}, 1, below);
    }
    end_names(m, name, "_sum");
    metrics_sample(m, NULL, 0, sum);
    end_names(m, name, "_count");
    metrics_count(m, NULL, 0, below);
}

void metrics_gauge(struct metrics *m, const char *name, const char *help, double value)
{
    metrics_family(m, name, help);
    metrics_sample(m, NULL, 0, value);
}

void metrics_counter(struct metrics *m, const char *name, const char *help, uint64_t value)
{
    metrics_family(m, name, help);
    metrics_count(m, NULL, 0, value);
}

void metrics_counters(struct metrics *m, const struct metric_counter *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        metrics_counter(m, rows[i].name, rows[i].help, rows[i].value);
    }
}

void metrics_by_name(struct metrics *m, const struct metric_label *pair, const char *by,
                     const struct names *names, const uint64_t *value)
{
    struct metric_label labels[2];
    size_t n = 0;
    if (pair) {
        labels[n++] = *pair;
    }
    for (size_t k = 0; k < names->count; k++) {
        labels[n] = (struct metric_label){by, names_text(names, k)};
        metrics_count(m, labels, n + 1, value[k]);
    }
}
