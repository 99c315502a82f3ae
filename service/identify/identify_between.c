#include "service/identify/identify_between.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "twin/report/fit_report.h"

static bool is_readable_again(const struct csv_source *input)
{
    struct stat kind;
    return input->text || (strcmp(input->path, "-") != 0 && stat(input->path, &kind) == 0 &&
                           (S_ISREG(kind.st_mode) || S_ISDIR(kind.st_mode)));
}

bool identify_between_asked(const struct identify_request *request)
{
    bool again = request->file_count >= BETWEEN_MIN && request->file_count <= BETWEEN_MAX;
    for (size_t i = 0; i < request->file_count && again; i++) {
        again = is_readable_again(&request->files[i]);
    }
    return again;
}

static struct number_between *find_number(struct identify_between *between,
                                          const struct fitted_number *fitted)
{
    for (size_t i = 0; i < between->number_count; i++) {
        if (strcmp(between->number[i].name, fitted->name) == 0) {
            return &between->number[i];
        }
    }
    struct number_between *number = &between->number[between->number_count];
    between->number_count += between->number_count < FITTED_NUMBERS_MAX - 1 ? 1 : 0;
    memcpy(number->name, fitted->name, sizeof number->name);
    number->derived = fitted->derived;
    return number;
}

void identify_between_add(struct identify_between *between, const struct estimate *e,
                          const struct fitted_numbers *numbers)
{
    struct identify_recording *recording = &between->recording[between->count];
    recording->fitted = true;
    recording->verdict = e->verdict;
    for (size_t k = 0; k < e->reason_count; k++) {
        recording->codes |= UINT64_C(1) << e->reason_codes[k];
    }
    for (size_t i = 0; numbers && i < numbers->count; i++) {
        number_between_add(find_number(between, &numbers->number[i]), between->count,
                           &numbers->number[i]);
    }
}

void identify_between_judge(const struct identify_between *between, struct estimate *e)
{
    const struct number_between *worst = between->worst;
    if (!worst) {
        return;
    }
    uint64_t own = UINT64_C(1) << REASON_HELD_OUT | UINT64_C(1) << REASON_CONTRADICTS_IN_USE;
    for (size_t i = 0; i < between->count; i++) {
        own |= between->recording[i].codes;
    }
    const enum estimate_verdict at_best =
        e->verdict > ESTIMATE_MARGINAL ? e->verdict : ESTIMATE_MARGINAL;
    if (estimate_retain_reasons(e, own)) {
        e->advice_count = 0;
    }
    const struct between *found = &worst->found;
    estimate_reason_first(
        e, REASON_PARTS_DIFFER, at_best, "%s differs between recordings by %.2g %%%s%s",
        worst->name, 100.0 * found->sd_between / fabs(found->value),
        found->odd < found->n ? ", most in " : "",
        found->odd < found->n ? between->recording[worst->recording[found->odd]].name : "");
    estimate_advise(e, "compare the ranges of the recordings first; then look for what changed "
                       "between them: load, battery, floor, temperature, another robot");
}

void identify_between_write(struct json_writer *w, const struct identify_between *between)
{
    JSON_LIST(w, "recordings", size_t i = 0; i < between->count; i++) {
        const struct identify_recording *recording = &between->recording[i];
        JSON_WRITE_OBJECT(w, NULL, JSON("name", recording->name),
                          JSON("verdict", recording->fitted
                                              ? estimate_verdict_name(recording->verdict)
                                              : NULL),
                          JSON("range", recording->range));
    }
    JSON_MAP(w, "between", size_t i = 0; i < between->number_count; i++) {
        const struct number_between *number = &between->number[i];
        const struct between *found = &number->found;
        if (found->n == 0) {
            continue;
        }
        const size_t odd = found->odd < found->n ? number->recording[found->odd] : 0;
        json_write_object(w, number->name);
        between_report(w, found);
        json_write_text(w, "odd", found->odd < found->n ? between->recording[odd].name : NULL);
        json_write_close(w);
    }
}
