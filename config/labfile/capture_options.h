/* config/labfile/capture_options.h - when recordings of a pair are saved for longer than the
 * journal keeps them: the section `capture` of the lab file. */
#ifndef CONFIG_LABFILE_CAPTURE_OPTIONS_H
#define CONFIG_LABFILE_CAPTURE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"
#include "logger/message/record.h"

enum { CAPTURE_ON_MAX = 20, CAPTURE_WORD_MAX = 48 };

struct capture_options {
    size_t on_count;                           /* 0: no captures */
    char on[CAPTURE_ON_MAX][CAPTURE_WORD_MAX]; /* triggers as written */
    int64_t before_us, after_us, every_us;
    uint32_t keep, keep_mb; /* 1 MB = 1 000 000 bytes */
};

/* A trigger: a type of alarm, a verdict, or a number of an entry beyond a bound. */
struct capture_trigger {
    enum capture_kind { CAPTURE_ALARM, CAPTURE_VERDICT, CAPTURE_NUMBER } kind;
    enum alarm_type alarm;
    enum verdict verdict;
    size_t number; /* lag_s, abs_lag_s, real_lap_s, virtual_lap_s */
    bool above;
    double bound;
};

/* Parse "timeout", "verdict.BEHIND" or "abs_lag_s>0.5". STATUS_E_ARG with the nearest name and
 * the list in err. */
MUST_USE enum status capture_trigger_parse(const char *text, struct capture_trigger *out,
                                           struct err *err);

bool capture_trigger_is_alarm(const struct capture_trigger *trigger, const struct alarm *alarm);
bool capture_trigger_is_entry(const struct capture_trigger *trigger, const struct entry *entry);

#endif
