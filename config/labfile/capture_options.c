#include "config/labfile/capture_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/lab_time.h"
#include "base/numbers/number.h"
#include "base/text/edit_distance.h"

static const char *const numbers[] = {"lag_s", "abs_lag_s", "real_lap_s", "virtual_lap_s"};
static const char VERDICT[] = "verdict.";

static enum status refuse_verdict(const char *text, struct err *err)
{
    char list[320];
    names_list(&verdict_names, list, sizeof list);
    return err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_VALUE, "capture.on",
                   "no verdict '%.20s'; there are %s", text + strlen(VERDICT), list);
}

/* Names every trigger, and guesses which was meant. */
static enum status refuse_trigger(const char *text, struct err *err)
{
    struct edit_guess guess = {0};
    char meant[EDIT_GUESS_MAX];
    char list[320];
    names_list(&alarm_type_names, list, sizeof list);
    for (size_t i = 0; i < ALARM_TYPE_COUNT; i++) {
        edit_guess_try(&guess, text, alarm_type_name((enum alarm_type)i));
    }
    return err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_VALUE, "capture.on",
                   "no '%.20s'%s; verdict.X, lag_s>X, %s", text, edit_guess_text(&guess, meant),
                   list);
}

static bool parse_number(const char *text, struct capture_trigger *out)
{
    const size_t n = strcspn(text, "<>");
    const char *bound = text + n + 1;
    for (size_t i = 0; i < COUNT(numbers) && text[n]; i++) {
        if (strlen(numbers[i]) == n && strncmp(text, numbers[i], n) == 0) {
            const char *end = number_scan(bound, bound + strlen(bound), &out->bound);
            out->kind = CAPTURE_NUMBER;
            out->number = i;
            out->above = text[n] == '>';
            return end != bound && *end == '\0' && isfinite(out->bound);
        }
    }
    return false;
}

enum status capture_trigger_parse(const char *text, struct capture_trigger *out,
                                  struct err *err)
{
    const size_t alarm = names_value(&alarm_type_names, text);
    *out = (struct capture_trigger){.kind = CAPTURE_ALARM};
    if (alarm < ALARM_TYPE_COUNT) {
        out->alarm = (enum alarm_type)alarm;
        return STATUS_OK;
    }
    if (strncmp(text, VERDICT, strlen(VERDICT)) == 0) {
        const size_t verdict = names_value(&verdict_names, text + strlen(VERDICT));
        out->kind = CAPTURE_VERDICT;
        out->verdict = (enum verdict)verdict;
        return verdict < VERDICT_COUNT ? STATUS_OK : refuse_verdict(text, err);
    }
    return parse_number(text, out) ? STATUS_OK : refuse_trigger(text, err);
}

bool capture_trigger_is_alarm(const struct capture_trigger *trigger, const struct alarm *alarm)
{
    return trigger->kind == CAPTURE_ALARM && trigger->alarm == alarm->type;
}

/* An unknown number triggers nothing. */
static double number_of(const struct capture_trigger *trigger, const struct entry *e)
{
    const int64_t us = trigger->number < 2 ? e->lag_us : e->lap_us[trigger->number - 2];
    const double s = us == LAB_TIME_NONE ? (double)NAN : lab_s(us);
    return trigger->number == 1 ? fabs(s) : s;
}

bool capture_trigger_is_entry(const struct capture_trigger *trigger, const struct entry *entry)
{
    if (trigger->kind == CAPTURE_NUMBER) {
        const double number = number_of(trigger, entry);
        return trigger->above ? number > trigger->bound : number < trigger->bound;
    }
    return trigger->kind == CAPTURE_VERDICT && trigger->verdict == entry->verdict;
}
