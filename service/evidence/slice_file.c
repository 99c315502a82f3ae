#include "service/evidence/slice_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/evidence/slice_mcap.h"
#include "service/tool/csv_tables.h"

enum slice_format slice_file_format(const char *path)
{
    static const char *const ends[SLICE_FORMAT_COUNT] = {
        [SLICE_MCAP] = ".mcap", [SLICE_LINES] = ".jsonl", [SLICE_TELEMETRY] = ".csv"};
    const size_t n = strlen(path);
    enum slice_format format = SLICE_MCAP;
    while (format < SLICE_FORMAT_COUNT &&
           (n < strlen(ends[format]) ||
            strcmp(path + n - strlen(ends[format]), ends[format]) != 0)) {
        format++;
    }
    return format;
}

/* --- lines -------------------------------------------------------------------------------- */

static void write_line(void *context, const struct slice_line *line)
{
    (void)fwrite(line->line->text, 1, line->line->bytes, context);
    (void)fputc('\n', context);
}

/* --- telemetry ---------------------------------------------------------------------------- */

static void write_vector(FILE *to, const double *values, size_t count, bool last)
{
    for (size_t i = 0; i < EVENT_AXES_MAX; i++) {
        csv_tables_number(to, i < count ? values[i] : (double)NAN,
                          last && i + 1 == EVENT_AXES_MAX);
    }
}

static void write_stamp(FILE *to, int64_t t_us)
{
    if (t_us != LAB_TIME_NONE) {
        (void)fprintf(to, "%" PRId64 ".%06" PRId64, t_us / 1000000, t_us % 1000000);
    }
    (void)fputc(',', to);
}

static void write_sample(void *context, const struct event *event)
{
    FILE *to = context;
    const struct event_telemetry *t = &event->telemetry;
    write_stamp(to, event->t_us);
    (void)fprintf(to, "%s,%s,", event->pair, side_name(event->side));
    write_stamp(to, t->source_us);
    if (t->seq >= 0) {
        (void)fprintf(to, "%" PRId64, t->seq);
    }
    (void)fputc(',', to);
    write_vector(to, t->nu, t->nu_count, false);
    write_vector(to, t->tau, t->tau_count, false);
    write_vector(to, t->pose, t->pose_count, true);
}

static void write_header(FILE *to)
{
    static const char *const vectors[] = {"nu", "tau", "pose"};
    (void)fputs("t,pair,side,stamp_s,seq", to);
    for (size_t v = 0; v < COUNT(vectors); v++) {
        for (int i = 0; i < EVENT_AXES_MAX; i++) {
            (void)fprintf(to, ",%s[%d]", vectors[v], i);
        }
    }
    (void)fputc('\n', to);
}

/* --- all ------------------------------------------------------------------------------------
 */

static enum status write_mcap(const struct slice_request *request, const char *trigger,
                              FILE *to, struct slice_found *found, struct err *err)
{
    struct slice_mcap *mcap = NULL;
    enum status status = slice_mcap_open(request, to, &mcap);
    if (status != STATUS_OK) {
        return err_no_memory(err, "export", "no memory");
    }
    const struct slice_sink sink = {
        .line = slice_mcap_line, .record = slice_mcap_record, .context = mcap};
    status = slice_read(request, &sink, found, err);
    status = status == STATUS_OK ? slice_mcap_end(mcap, trigger, found) : status;
    slice_mcap_close(mcap);
    return status;
}

enum status slice_file_write(const struct slice_request *request, enum slice_format format,
                             const char *trigger, FILE *to, struct slice_found *found,
                             struct err *err)
{
    const struct slice_sink sink = {.line = format == SLICE_LINES ? write_line : NULL,
                                    .sample = format == SLICE_TELEMETRY ? write_sample : NULL,
                                    .context = to};
    enum status status = STATUS_OK;
    errno = 0;
    if (format == SLICE_MCAP) {
        status = write_mcap(request, trigger, to, found, err);
    } else {
        if (format == SLICE_TELEMETRY) {
            write_header(to);
        }
        status = slice_read(request, &sink, found, err);
    }
    return status == STATUS_OK && (fflush(to) != 0 || ferror(to)) ? STATUS_E_IO : status;
}
