/* web/http/metrics.h - writes the Prometheus text format, version 0.0.4.
 *
 *     metrics_family(m, "tandem_events_total", "Events processed.");
 *     metrics_count(m, (struct metric_label[]){{"kind", "reply"}}, 1, n);
 *
 * All samples of a family must directly follow its metrics_family() call, as the format
 * requires. Names are ours (asserted: [a-z][a-z0-9_]*; counters, and only they, end in _total;
 * base units spelled out as `promtool check metrics` requires); label values may be anything.
 * A sample that is not finite is left out. One owner, no locks.
 */
#ifndef WEB_HTTP_METRICS_H
#define WEB_HTTP_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"
#include "web/http/body.h"

struct metric_label {
    const char *name, *value;
};

enum { METRICS_NAME_MAX = 96 };

struct metrics {
    struct body *out; /* must be set; all else zero */
    char family[METRICS_NAME_MAX];
};

/* Begin a counter if the name ends in _total, else a gauge. */
void metrics_family(struct metrics *m, const char *name, const char *help);
/* Write a sample of the current family; labels[count], NULL with 0. */
void metrics_sample(struct metrics *m, const struct metric_label *labels, size_t count,
                    double value);
void metrics_count(struct metrics *m, const struct metric_label *labels, size_t count,
                   uint64_t value);

/* Write a family with one sample without labels. */
void metrics_gauge(struct metrics *m, const char *name, const char *help, double value);
void metrics_counter(struct metrics *m, const char *name, const char *help, uint64_t value);

struct metric_counter {
    const char *name, *help;
    uint64_t value;
};
void metrics_counters(struct metrics *m, const struct metric_counter *rows, size_t count);

/* Write a family of one histogram: value[k] counts values above bound[k - 1] and up to
 * bound[k]; the last one, value[count], those above all bounds. */
void metrics_histogram(struct metrics *m, const char *name, const char *help,
                       const double *bound, const uint64_t *value, size_t count, double sum);

/* Write a sample of the current family for each name: value[names->count] under the label `by`,
 * after the labels of pair; NULL: none. */
void metrics_by_name(struct metrics *m, const struct metric_label *pair, const char *by,
                     const struct names *names, const uint64_t *value);

#endif
