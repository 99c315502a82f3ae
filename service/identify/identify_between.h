/* service/identify/identify_between.h - several recordings of one robot: each is fitted by
 * itself too, and the fits are compared (docs/model/trust.md, "Several recordings").
 */
#ifndef SERVICE_IDENTIFY_IDENTIFY_BETWEEN_H
#define SERVICE_IDENTIFY_IDENTIFY_BETWEEN_H

#include "identification/fit/fitted_numbers.h"
#include "service/identify/identify_request.h"

/* A recording that was fitted by itself. */
struct identify_recording {
    const char *name; /* file name without folders */
    char range[96];   /* what it covers, in words */
    bool fitted;
    enum estimate_verdict verdict;
    uint64_t codes; /* bits 1 << enum reason_code */
};
_Static_assert((int)REASON_CODES <= 64, "a bit for each reason");

struct identify_between {
    size_t count;
    struct identify_recording recording[BETWEEN_MAX];
    size_t number_count;
    struct number_between number[FITTED_NUMBERS_MAX];
    const struct number_between *worst; /* differs most; NULL: none does beyond chance */
};

/* Should the recordings be fitted one by one? They are files that can be read again, three of
 * them or more. */
bool identify_between_asked(const struct identify_request *request);

/* Adds the fit of the next recording. numbers: NULL, it determines none. */
void identify_between_add(struct identify_between *between, const struct estimate *e,
                          const struct fitted_numbers *numbers);

/* Adds the reason if recordings differ. Reasons of the common fit that no single recording has
 * follow from the difference, and are removed; the verdict does not become better. */
void identify_between_judge(const struct identify_between *between, struct estimate *e);

void identify_between_write(struct json_writer *w, const struct identify_between *between);

#endif
