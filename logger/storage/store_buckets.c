/* logger/storage/store_buckets.c - sums of entries by time (buckets), so that a chart of any
 * range is cheap to draw, whatever engine stores them. */
#include "logger/storage/store_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FOLD_ENTRIES = 4096, /* at once: a few milliseconds */
    FOLD_PAIRS = 64,     /* pairs at once */
    FOLD_BEHIND = 32     /* newest entries that wait: order is by reply */
};

#define S(s) ((s)*INT64_C(1000000))
#define H(h) S((h)*3600)

const int64_t store_widths_us[STORE_WIDTHS] = {
    50000, 200000, S(1),  S(4),  S(20),     S(60),      S(240),     S(1200),
    H(1),  H(3),   H(12), H(48), H(4 * 48), H(16 * 48), H(64 * 48), H(256 * 48)};

int64_t store_width_below(int64_t width_us)
{
    int64_t found = 1;
    for (int level = 0; level < STORE_WIDTHS && store_widths_us[level] <= width_us; level++) {
        found = store_widths_us[level];
    }
    return found;
}

int64_t bucket_start(int64_t t_us, int64_t width_us)
{
    const int64_t beyond_us = t_us % width_us;
    return t_us - (beyond_us < 0 ? beyond_us + width_us : beyond_us);
}

void store_bucket_add(struct store_bucket *to, const struct store_bucket *from)
{
    to->first_us =
        to->count == 0 || from->first_us < to->first_us ? from->first_us : to->first_us;
    if (from->values > 0) {
        to->min = to->values == 0 || from->min < to->min ? from->min : to->min;
        to->max = to->values == 0 || from->max > to->max ? from->max : to->max;
    }
    to->count += from->count;
    to->values += from->values;
    to->sum += from->sum;
    to->inconsistent += from->inconsistent;
    for (int v = 0; v < VERDICT_COUNT; v++) {
        to->verdicts[v] += from->verdicts[v];
    }
}

/* --- reading -------------------------------------------------------------------------- */

struct store_bucket bucket_of_entry(int64_t t_us, double lag_s, const char *verdict,
                                    bool inconsistent)
{
    struct store_bucket one = {.first_us = t_us, .count = 1, .inconsistent = inconsistent};
    const size_t v = verdict ? names_value(&verdict_names, verdict) : VERDICT_COUNT;
    if (v < VERDICT_COUNT) {
        one.verdicts[v] = 1;
    }
    if (isfinite(lag_s)) {
        one.values = 1;
        one.min = one.max = one.sum = lag_s;
    }
    return one;
}

void bucket_parse_verdicts(const char *text, uint64_t verdicts[VERDICT_COUNT])
{
    for (int v = 0; v < VERDICT_COUNT && text && (*text == '[' || *text == ','); v++) {
        char *end = NULL;
        verdicts[v] = strtoull(text + 1, &end, 10);
        text = end;
    }
}

void bucket_format_verdicts(const uint64_t verdicts[VERDICT_COUNT],
                            char out[BUCKET_VERDICTS_MAX])
{
    int used = 0;
    for (int v = 0; v < VERDICT_COUNT; v++) {
        used += snprintf(out + used, BUCKET_VERDICTS_MAX - (size_t)used, "%c%llu",
                         v == 0 ? '[' : ',', (unsigned long long)verdicts[v]);
    }
    (void)snprintf(out + used, BUCKET_VERDICTS_MAX - (size_t)used, "]");
}

/* State of a reading. */
struct walk {
    struct bucket_source *source;
    const char *pair;
    store_bucket_fn *emit;
    void *context;
    bool stopped;
};

/* State of a level. */
struct level_walk {
    struct walk *walk;
    int level;
    int64_t until_us; /* what is before it has not been read */
    bool first;       /* no bucket of this level was passed on yet */
    int code;
};

static bool pass_entry(void *context, const struct store_bucket *entry)
{
    struct walk *w = context;
    w->stopped = !w->emit(w->context, entry);
    return !w->stopped;
}

static int walk_level(struct walk *w, int level, int64_t since_us, int64_t until_us);

/* Gaps between stored buckets hold only buckets with few entries; before the first and behind
 * the last one there may be narrower buckets. */
static bool pass_stored(void *context, int64_t t_us, const struct store_bucket *bucket)
{
    struct level_walk *l = context;
    struct walk *w = l->walk;
    l->code = walk_level(w, l->first ? l->level - 1 : -1, t_us + store_widths_us[l->level],
                         l->until_us);
    if (l->code == 0 && !w->stopped) {
        w->stopped = !w->emit(w->context, bucket);
    }
    l->until_us = t_us;
    l->first = false;
    return l->code == 0 && !w->stopped;
}

static int walk_level(struct walk *w, int level, int64_t since_us, int64_t until_us)
{
    struct level_walk l = {.walk = w, .level = level, .until_us = until_us, .first = true};
    if (since_us >= until_us || w->stopped) {
        return 0;
    }
    if (level < 0) {
        return w->source->entries(w->source, w->pair, since_us, until_us, true, pass_entry, w);
    }
    const int code =
        w->source->stored(w->source, level, w->pair, since_us, until_us, pass_stored, &l);
    const int found = code != 0 ? code : l.code;
    return found == 0 ? walk_level(w, level - 1, since_us, l.until_us) : found;
}

int bucket_read(struct bucket_source *source, int level, const char *pair, int64_t since_us,
                int64_t until_us, store_bucket_fn *emit, void *context)
{
    struct walk walk = {.source = source, .pair = pair, .emit = emit, .context = context};
    return walk_level(&walk, level, since_us, until_us);
}

/* --- folding -------------------------------------------------------------------------- */

static bool add_up(void *context, const struct store_bucket *bucket)
{
    store_bucket_add(context, bucket);
    return true;
}

/* Stores a bucket, unless it has few entries. */
static int write_bucket(struct bucket_target *target, const char *pair, int64_t width_us,
                        int64_t t_us, const struct store_bucket *b)
{
    return b->count < STORE_BUCKET_ENTRIES ? 0 : target->write(target, pair, width_us, t_us, b);
}

/* The open buckets of all widths at one time, filled with the entries before it. */
struct fold {
    struct bucket_target *target;
    const char *pair;
    int64_t t_us[STORE_WIDTHS];
    struct store_bucket open[STORE_WIDTHS];
    int code;
};

static int begin_fold(struct fold *f, int64_t from_us)
{
    int64_t until_us = from_us;
    int code = 0;
    for (int level = 0; level < STORE_WIDTHS && code == 0; level++) {
        struct store_bucket *open = &f->open[level];
        f->t_us[level] = bucket_start(from_us, store_widths_us[level]);
        *open = level > 0 ? f->open[level - 1] : (struct store_bucket){0};
        code = bucket_read(f->target->source, level - 1, f->pair, f->t_us[level], until_us,
                           add_up, open);
        until_us = f->t_us[level];
    }
    return code;
}

/* Stores the buckets that have ended by then. */
static int close_buckets(struct fold *f, int64_t now_us)
{
    int code = 0;
    for (int level = 0; level < STORE_WIDTHS && code == 0; level++) {
        const int64_t width_us = store_widths_us[level];
        if (now_us < f->t_us[level] + width_us) {
            break; /* wider ones have not ended either */
        }
        code = write_bucket(f->target, f->pair, width_us, f->t_us[level], &f->open[level]);
        f->t_us[level] = bucket_start(now_us, width_us);
        f->open[level] = (struct store_bucket){0};
    }
    return code;
}

static bool fold_entry(void *context, const struct store_bucket *one)
{
    struct fold *f = context;
    f->code = close_buckets(f, one->first_us);
    for (int level = 0; level < STORE_WIDTHS; level++) {
        store_bucket_add(&f->open[level], one);
    }
    return f->code == 0;
}

static int fold_entries(struct fold *f, int64_t from_us, int64_t until_us)
{
    struct bucket_source *source = f->target->source;
    int code = source->entries(source, f->pair, from_us, until_us, false, fold_entry, f);
    code = code != 0 ? code : f->code;
    return code == 0 ? close_buckets(f, until_us) : code;
}

/* Finds the range to fold: up to FOLD_ENTRIES, without the newest entries. *from_us equals
 * *until_us if there is nothing to do. */
static int find_range(struct bucket_target *target, const char *pair, int64_t *from_us,
                      int64_t *until_us, bool *more)
{
    struct bucket_ends ends = {0};
    const int code =
        target->find_ends(target, pair, *from_us, FOLD_ENTRIES, FOLD_BEHIND, &ends);
    const int64_t oldest_us = ends.any ? ends.oldest_us : *from_us;
    const int64_t newest_us = ends.any ? ends.newest_us : *from_us;
    const int64_t slice_us = ends.any && ends.many ? ends.slice_us : newest_us;
    *from_us = *from_us == INT64_MIN ? oldest_us : *from_us;
    /* Also correct if that many entries have the same time. */
    *until_us = slice_us > *from_us || slice_us == newest_us ? slice_us : *from_us + 1;
    *more = *until_us < newest_us;
    return code;
}

int bucket_fold_pair(struct bucket_target *target, const char *pair, bool *more)
{
    struct fold fold = {.target = target, .pair = pair};
    int64_t from_us = INT64_MIN;
    int64_t until_us = INT64_MIN;
    bool any = false;
    int code = target->read_folded(target, pair, &any, &from_us);
    code = code == 0 ? find_range(target, pair, &from_us, &until_us, more) : code;
    if (code == 0 && from_us < until_us) {
        code = begin_fold(&fold, from_us);
        code = code == 0 ? fold_entries(&fold, from_us, until_us) : code;
    }
    return code == 0 ? target->write_folded(target, pair, until_us, *more) : code;
}

/* Adds an entry older than the folded time: recomputes its buckets, narrow ones first. */
int bucket_add_late(struct bucket_target *target, const char *pair, int64_t t_us,
                    int64_t folded_us)
{
    int code = 0;
    for (int level = 0; level < STORE_WIDTHS && code == 0; level++) {
        const int64_t width_us = store_widths_us[level];
        const int64_t start_us = bucket_start(t_us, width_us);
        struct store_bucket bucket = {0};
        if (start_us + width_us > folded_us) {
            break; /* wider ones are not stored either */
        }
        code = bucket_read(target->source, level - 1, pair, start_us, start_us + width_us,
                           add_up, &bucket);
        code = code == 0 ? write_bucket(target, pair, width_us, start_us, &bucket) : code;
    }
    return code;
}

int bucket_add(struct bucket_target *target, const struct store_row *row, bool *due)
{
    int64_t folded_us = INT64_MIN;
    bool any = false;
    bool more = false;
    int code = target->read_folded(target, row->pair, &any, &folded_us);
    if (code == 0 && any && row->t_us < folded_us) {
        return bucket_add_late(target, row->pair, row->t_us, folded_us);
    }
    if (code == 0 && row->n % STORE_FOLD_EVERY == 0) {
        code = bucket_fold_pair(target, row->pair, &more);
        *due = *due || more;
    }
    return code;
}

int bucket_fold(struct bucket_target *target, bool *due)
{
    int code = 0;
    *due = true;
    for (int k = 0; k < FOLD_PAIRS && code == 0 && *due; k++) {
        char pair[EVENT_PAIR_MAX] = "";
        bool more = false;
        code = target->find_due(target, pair);
        *due = pair[0] != '\0';
        code = code == 0 && *due ? bucket_fold_pair(target, pair, &more) : code;
        if (more) {
            break;
        }
    }
    return code;
}
