#include "service/evidence/align.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "service/evidence/compare_thresholds.def"

ENUM_NAMES(alignment_rule, ALIGNMENT_RULE_COUNT, ALIGNMENT_RULES(NAMES_TEXT));

/* Sizes are equal to six decimals. */
static long long round_size(double size)
{
    return llround(size * 1e6);
}

bool align_is_same_command(const struct recorded_command *a, const struct recorded_command *b)
{
    return round_size(a->rotation_rad) == round_size(b->rotation_rad) &&
           round_size(a->displacement_m) == round_size(b->displacement_m) &&
           strcmp(a->op, b->op) == 0;
}

/* ---- by time and id, by id ----------------------------------------------------------------
 */

typedef int compare_commands(const struct recorded_command *a,
                             const struct recorded_command *b);

static int compare_ids(const struct recorded_command *a, const struct recorded_command *b)
{
    return strcmp(a->id, b->id);
}

static int compare_stamps(const struct recorded_command *a, const struct recorded_command *b)
{
    return a->t_us != b->t_us ? (a->t_us < b->t_us ? -1 : 1) : compare_ids(a, b);
}

struct sorting {
    const struct recorded_command *commands;
    compare_commands *compare;
};

/* Equal commands are sorted by place. */
static int compare_places(const void *a, const void *b, void *context)
{
    const struct sorting *s = context;
    const uint32_t i = *(const uint32_t *)a;
    const uint32_t j = *(const uint32_t *)b;
    const int order = s->compare(&s->commands[i], &s->commands[j]);
    return order != 0 ? order : i < j ? -1 : i > j;
}

static uint32_t *sort_commands(const struct recorded_pair *pair, compare_commands *compare)
{
    struct sorting sorting = {pair->commands, compare};
    uint32_t *order = malloc((pair->count + 1) * sizeof *order);
    for (size_t i = 0; order && i < pair->count; i++) {
        order[i] = (uint32_t)i;
    }
    if (order) {
        qsort_r(order, pair->count, sizeof *order, compare_places, &sorting);
    }
    return order;
}

static bool has_duplicates(const struct recorded_pair *pair, const uint32_t *order,
                           compare_commands *compare)
{
    for (size_t i = 1; i < pair->count; i++) {
        if (compare(&pair->commands[order[i - 1]], &pair->commands[order[i]]) == 0) {
            return true;
        }
    }
    return false;
}

static int compare_matches(const void *a, const void *b)
{
    const struct match *x = a;
    const struct match *y = b;
    return x->a < y->a ? -1 : x->a > y->a;
}

/* Two sorted lists, to find what both have. */
struct common {
    const struct recorded_pair *a, *b;
    compare_commands *compare;
    uint32_t *order_a, *order_b;
    bool unique; /* in each of the two */
};

static bool sort_common(struct common *c)
{
    c->order_a = sort_commands(c->a, c->compare);
    c->order_b = sort_commands(c->b, c->compare);
    c->unique = c->order_a && c->order_b && !has_duplicates(c->a, c->order_a, c->compare) &&
                !has_duplicates(c->b, c->order_b, c->compare);
    return c->order_a && c->order_b;
}

/* Stores the matches, and returns their number. */
static size_t merge_common(const struct common *c, struct match *matches)
{
    size_t count = 0;
    for (size_t i = 0, j = 0; i < c->a->count && j < c->b->count;) {
        const int order =
            c->compare(&c->a->commands[c->order_a[i]], &c->b->commands[c->order_b[j]]);
        if (order == 0) {
            matches[count++] = (struct match){c->order_a[i], c->order_b[j]};
        }
        i += order <= 0;
        j += order >= 0;
    }
    qsort(matches, count, sizeof *matches, compare_matches);
    return count;
}

static size_t count_shorter(const struct recorded_pair *a, const struct recorded_pair *b)
{
    return a->count < b->count ? a->count : b->count;
}

/* Does the rule fit? *out has its matches then. Sets *status on a failure. */
static bool match_keys(const struct recorded_pair *a, const struct recorded_pair *b,
                       enum alignment_rule rule, bool forced, struct alignment *out,
                       enum status *status)
{
    struct common c = {
        .a = a, .b = b, .compare = rule == ALIGNED_BY_ID ? compare_ids : compare_stamps};
    bool fits = false;
    if (!sort_common(&c)) {
        *status = STATUS_E_NOMEM;
    } else if (rule == ALIGNED_BY_RECORDING || c.unique) {
        out->count = merge_common(&c, out->matches);
        fits = forced || (double)out->count >= SAME_SHARE * (double)count_shorter(a, b);
    }
    free(c.order_a);
    free(c.order_b);
    if (fits && rule == ALIGNED_BY_ID) { /* an id may have been given to another command */
        size_t kept = 0;
        for (size_t i = 0; i < out->count; i++) {
            const struct match m = out->matches[i];
            if (align_is_same_command(&a->commands[m.a], &b->commands[m.b])) {
                out->matches[kept++] = m;
            }
        }
        out->count = kept;
    }
    return fits;
}

/* ---- by sequence --------------------------------------------------------------------------
 */

/* The keys of the parts between equal beginnings and ends: x[n], then y[m]. */
struct middle {
    uint64_t *x, *y;
    size_t n, m;
};

static uint64_t hash_command(const struct recorded_command *c)
{
    const long long sizes[] = {round_size(c->rotation_rad), round_size(c->displacement_m)};
    return hash_bytes(hash_bytes(HASH_START, sizes, sizeof sizes), c->op, strlen(c->op));
}

static bool hash_middle(const struct recorded_pair *a, const struct recorded_pair *b,
                        size_t head, struct middle *mid)
{
    mid->x = malloc((mid->n + mid->m + 1) * sizeof *mid->x);
    mid->y = mid->x ? mid->x + mid->n : NULL;
    for (size_t i = 0; mid->x && i < mid->n; i++) {
        mid->x[i] = hash_command(&a->commands[head + i]);
    }
    for (size_t j = 0; mid->x && j < mid->m; j++) {
        mid->y[j] = hash_command(&b->commands[head + j]);
    }
    return mid->x != NULL;
}

/* Fills skips[n * m], a bit each: is it no worse to skip the command of x than that of y? Rows
 * of the table of lengths are made from the end, and only two of them are kept. */
static bool fill_table(const struct middle *mid, uint8_t *skips)
{
    uint32_t *rows = calloc(2 * (mid->m + 1), sizeof *rows);
    for (size_t i = mid->n; rows && i-- > 0;) {
        uint32_t *row = rows + (i % 2) * (mid->m + 1);
        const uint32_t *next = rows + ((i + 1) % 2) * (mid->m + 1);
        for (size_t j = mid->m; j-- > 0;) {
            const size_t cell = i * mid->m + j;
            const bool skip = next[j] >= row[j + 1];
            row[j] = mid->x[i] == mid->y[j] ? next[j + 1] + 1 : skip ? next[j] : row[j + 1];
            skips[cell / 8] |= (uint8_t)((skip ? 1U : 0U) << cell % 8);
        }
    }
    free(rows);
    return rows != NULL;
}

/* Adds the matches of the middle. Returns false without memory. */
static bool match_middle(const struct middle *mid, size_t head, struct alignment *out)
{
    uint8_t *skips = calloc(mid->n * mid->m / 8 + 1, 1);
    if (!skips || !fill_table(mid, skips)) {
        free(skips);
        return false;
    }
    for (size_t i = 0, j = 0; i < mid->n && j < mid->m;) {
        const size_t cell = i * mid->m + j;
        if (mid->x[i] == mid->y[j]) {
            out->matches[out->count++] =
                (struct match){(uint32_t)(head + i++), (uint32_t)(head + j++)};
        } else if ((unsigned)skips[cell / 8] >> cell % 8 & 1U) {
            i++;
        } else {
            j++;
        }
    }
    free(skips);
    return true;
}

bool align_has_one_command(const struct recorded_pair *pair)
{
    for (size_t i = 1; i < pair->count; i++) {
        if (!align_is_same_command(&pair->commands[0], &pair->commands[i])) {
            return false;
        }
    }
    return true;
}

static bool match_sequence(const struct recorded_pair *a, const struct recorded_pair *b,
                           struct alignment *out, enum status *status)
{
    const size_t shorter = count_shorter(a, b);
    size_t head = 0;
    size_t tail = 0;
    while (head < shorter && align_is_same_command(&a->commands[head], &b->commands[head])) {
        head++;
    }
    while (tail < shorter - head && align_is_same_command(&a->commands[a->count - 1 - tail],
                                                          &b->commands[b->count - 1 - tail])) {
        tail++;
    }
    struct middle mid = {.n = a->count - head - tail, .m = b->count - head - tail};
    if (mid.m > 0 && mid.n > CELLS_MAX / mid.m) {
        out->why = "the recordings are too long and too different to be aligned";
        return false;
    }
    out->count = 0;
    for (size_t i = 0; i < head; i++) {
        out->matches[out->count++] = (struct match){(uint32_t)i, (uint32_t)i};
    }
    const bool matched = hash_middle(a, b, head, &mid) && match_middle(&mid, head, out);
    free(mid.x);
    if (!matched) {
        *status = STATUS_E_NOMEM;
        return false;
    }
    for (size_t i = tail; i > 0; i--) {
        out->matches[out->count++] =
            (struct match){(uint32_t)(a->count - i), (uint32_t)(b->count - i)};
    }
    return true;
}

/* ---- the rules in their order -------------------------------------------------------------
 */

/* Ties of a sequence are resolved in the direction of the earlier recording, so that B against
 * A gives the same matches. */
static bool is_later(const struct recorded_pair *a, const struct recorded_pair *b)
{
    return a->commands[0].t_us != b->commands[0].t_us
               ? a->commands[0].t_us > b->commands[0].t_us
               : a->commands[a->count - 1].t_us > b->commands[b->count - 1].t_us;
}

static bool match_in_order(const struct recorded_pair *a, const struct recorded_pair *b,
                           struct alignment *out, enum status *status)
{
    const bool turned = is_later(a, b);
    const bool found =
        turned ? match_sequence(b, a, out, status) : match_sequence(a, b, out, status);
    for (size_t i = 0; turned && i < out->count; i++) {
        const struct match m = out->matches[i];
        out->matches[i] = (struct match){m.b, m.a};
    }
    return found;
}

static bool try_rule(const struct recorded_pair *a, const struct recorded_pair *b,
                     enum alignment_rule rule, bool forced, struct alignment *out,
                     enum status *status)
{
    if (rule != ALIGNED_BY_SEQUENCE) {
        return match_keys(a, b, rule, forced, out, status);
    }
    return match_in_order(a, b, out, status) &&
           (forced || ((double)out->count >= SEQUENCE_SHARE * (double)count_shorter(a, b) &&
                       !(align_has_one_command(a) && align_has_one_command(b))));
}

enum status align_find(const struct recorded_pair *a, const struct recorded_pair *b,
                       enum alignment_rule request, struct alignment *out)
{
    struct alignment found = {.rule = ALIGNED_NOT};
    enum status status = STATUS_OK;
    const size_t shorter = count_shorter(a, b);
    found.matches = malloc((shorter + 1) * sizeof *found.matches);
    if (!found.matches) {
        return STATUS_E_NOMEM;
    }
    for (enum alignment_rule rule = 0;
         rule < ALIGNED_NOT && found.rule == ALIGNED_NOT && status == STATUS_OK && shorter > 0;
         rule++) {
        if ((request == ALIGNED_AUTO || request == rule) &&
            try_rule(a, b, rule, request == rule, &found, &status)) {
            found.rule = rule;
        }
    }
    if (found.rule == ALIGNED_NOT || found.count == 0) {
        found.rule = ALIGNED_NOT;
        found.count = 0;
    }
    if (status != STATUS_OK) {
        align_free(&found);
        return status;
    }
    *out = found;
    return STATUS_OK;
}

void align_free(struct alignment *alignment)
{
    free(alignment->matches);
    *alignment = (struct alignment){.rule = ALIGNED_NOT};
}
