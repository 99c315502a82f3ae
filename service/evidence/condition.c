#include "service/evidence/condition.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/number.h"
#include "base/text/edit_distance.h"
#include "identification/travel/profile_fit.h"
#include "identification/travel/travel_fit.h"
#include "service/tool/commands.h"

ENUM_NAMES(condition_result, CONDITION_RESULT_COUNT, CONDITION_RESULTS(NAMES_TEXT));

enum { NAME_MAX_BYTES = ESTIMATE_NAME_MAX, FAMILY_NAMES_MAX = 80 };

/* The names "PREFIX.NAME" of a table; prefix "": without. */
struct family {
    const char *prefix;
    const struct names *names;
    enum condition_kind kind;
    unsigned side;
};

static const struct names sync_names = {(const char *const[]){"sync_share"}, 1};

static const struct family families[] = {
    {"", &compared_time_names, CONDITION_TIME, 0},
    {"", &sync_names, CONDITION_SYNC, 0},
    {"verdicts.", &verdict_names, CONDITION_VERDICT, 0},
    {"alarms.", &alarm_type_names, CONDITION_ALARM, 0},
    {"real.", &travel_term_names, CONDITION_TERM, SIDE_REAL},
    {"real.", &profile_term_names, CONDITION_TERM, SIDE_REAL},
    {"virtual.", &travel_term_names, CONDITION_TERM, SIDE_VIRTUAL},
    {"virtual.", &profile_term_names, CONDITION_TERM, SIDE_VIRTUAL},
};

static bool find_name(const char *name, struct condition *out)
{
    for (size_t f = 0; f < COUNT(families); f++) {
        const struct family *family = &families[f];
        const size_t prefix = strlen(family->prefix);
        const bool mine = strncmp(name, family->prefix, prefix) == 0;
        const size_t at =
            mine ? names_value(family->names, name + prefix) : family->names->count;
        if (at < family->names->count) {
            out->kind = family->kind;
            out->at = family->kind == CONDITION_TERM ? family->side : (unsigned)at;
            (void)snprintf(out->term, sizeof out->term, "%s", name + prefix);
            return true;
        }
    }
    return false;
}

static void complain_name(const struct condition *c, const char *name)
{
    static char all[FAMILY_NAMES_MAX][NAME_MAX_BYTES];
    struct edit_guess guess = {0};
    char meant[EDIT_GUESS_MAX];
    size_t count = 0;
    for (const struct family *f = families; f < families + COUNT(families); f++) {
        for (size_t i = 0; i < f->names->count && count < FAMILY_NAMES_MAX; i++) {
            (void)snprintf(all[count], sizeof all[count], "%s%s", f->prefix, f->names->text[i]);
            edit_guess_try(&guess, name, all[count++]);
        }
    }
    complain("%s: no such number; there are abs_lag_s, lag_s, real_lap_s, virtual_lap_s, "
             "sync_share, verdicts.NAME, alarms.TYPE, real.TERM and virtual.TERM%s",
             c->text, edit_guess_text(&guess, meant));
}

bool condition_parse(const char *text, bool needed, struct condition *out)
{
    char name[NAME_MAX_BYTES];
    const char *sign = strpbrk(text, "<>");
    *out = (struct condition){.text = text, .needed = needed, .above = sign && *sign == '>'};
    const char *end = sign ? number_scan(sign + 1, text + strlen(text), &out->limit) : NULL;
    if (!sign || end == sign + 1 || *end || !isfinite(out->limit)) {
        return complain("--%s %s: NAME<NUMBER or NAME>NUMBER in SI units was expected, such as "
                        "'abs_lag_s>0.01'",
                        needed ? "need" : "fail-if", text);
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)(sign - text), text);
    if (!find_name(name, out)) {
        complain_name(out, name);
        return false;
    }
    return true;
}

/* ---- judging ------------------------------------------------------------------------------
 */

struct range {
    double lo, hi; /* NaN: unknown */
};

static struct range range_of_counts(uint64_t a, uint64_t b)
{
    const double difference = (double)b - (double)a;
    return (struct range){difference, difference};
}

/* A difference without an interval, of one recording, is exact. */
static struct range range_of(bool exact, double value, double lo, double hi)
{
    return exact ? (struct range){value, value} : (struct range){lo, hi};
}

static struct range find_range(const struct condition *condition, const struct comparison *c)
{
    const unsigned at = condition->at;
    const bool exact = c->alignment.rule == ALIGNED_BY_RECORDING;
    struct range range = {NAN, NAN};
    if (c->commands[IN_A] == 0 || c->commands[IN_B] == 0) {
        return range;
    }
    switch (condition->kind) {
    case CONDITION_TIME: {
        const struct rank_shift *s = &c->shift[at].shift;
        range = range_of(exact, s->value, s->lo, s->hi);
        break;
    }
    case CONDITION_SYNC: {
        const struct share *d = &c->sync_difference;
        range = range_of(exact, d->value, d->lo, d->hi);
        break;
    }
    case CONDITION_VERDICT:
        range = range_of_counts(c->verdicts[at][IN_A], c->verdicts[at][IN_B]);
        break;
    case CONDITION_ALARM:
        range = range_of_counts(c->alarms[at][IN_A], c->alarms[at][IN_B]);
        break;
    case CONDITION_TERM:
        for (size_t i = 0; i < c->term_count[at]; i++) {
            if (strcmp(c->terms[at][i].name, condition->term) == 0) {
                range = (struct range){c->terms[at][i].lo, c->terms[at][i].hi};
            }
        }
        break;
    }
    return range;
}

enum condition_result condition_judge(const struct condition *condition,
                                      const struct comparison *c)
{
    const struct range range = find_range(condition, c);
    const bool holds =
        condition->above ? range.lo > condition->limit : range.hi < condition->limit;
    const bool excluded =
        condition->above ? range.hi <= condition->limit : range.lo >= condition->limit;
    if (condition->needed) {
        return holds ? CONDITION_OK : CONDITION_FAILED;
    }
    return holds ? CONDITION_FAILED : excluded ? CONDITION_OK : CONDITION_OPEN;
}
