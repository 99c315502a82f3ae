#include "service/replay/pair_states.h"

#include <stdio.h>
#include <stdlib.h>

#include "service/tool/json_file.h"
#include "twin/report/following_report.h"
#include "twin/report/forecast_report.h"
#include "twin/report/pair_dynamics_report.h"
#include "twin/report/pair_report.h"

enum { PAIRS_A_BATCH = 8, BATCHES_A_THREAD = 3 };

enum stage { STAGE_FREE, STAGE_CLAIMED, STAGE_MADE };

/* States of consecutive pairs. */
struct batch {
    enum stage stage; /* under the lock */
    enum status status;
    size_t first, count;
    FILE *out; /* writes to text */
    char *text;
    size_t text_bytes;
    size_t parameters_end[PAIRS_A_BATCH], end[PAIRS_A_BATCH];
};

struct pair_states {
    const struct lab *lab;
    const struct lab_file *file;
    const uint32_t *pairs;
    size_t count;
    struct threads *threads;
    struct batch *batches; /* [batch_count] a ring */
    size_t batch_count;
    size_t next;      /* next pair to hand out */
    size_t make_next; /* next batch to make; under the lock */
};

/* ---- the members of a pair's state --------------------------------------------------- */

static void write_parameters(const struct pair_states *s, size_t i, struct json_writer *w)
{
    pair_report_parameters(w, "parameters", lab_pair(s->lab, i), &s->file->pairs[i],
                           NULL); /* the pair's dynamics have their own member */
}

static void write_rest(const struct pair_states *s, size_t i, struct json_writer *w)
{
    const struct pair *pair = lab_pair(s->lab, i);
    const struct pair_params *p = &s->file->pairs[i];
    struct pair_fits fits;
    pair_fit_window(pair, p, &fits);
    json_write_counts(w, "counts", &verdict_names, pair->counts.verdict);
    json_write_counts(w, "consistency", &consistency_names, pair->counts.consistency);
    json_write_counts(w, "alarm_counts", &alarm_type_names, pair->counts.alarm);
    pair_report_travel_time(w, "travel_time", &fits);
    pair_report_tracked(w, "tracked", pair, p);
    forecast_report_state(w, "forecast", pair, p);
    pair_report_clock(w, "clock", pair);
    if (lab_dynamics(s->lab, i)) {
        pair_dynamics_report(w, "dynamics", lab_dynamics(s->lab, i), p);
    }
    if (lab_following(s->lab, i)) {
        following_report(w, "following", lab_following(s->lab, i), p);
        fidelity_report_write(w, "fidelity", lab_following(s->lab, i), p);
    }
}

/* Returns the end of the members in the batch's text. */
static size_t write_members(const struct pair_states *s, struct batch *b, size_t i,
                            void (*write)(const struct pair_states *, size_t,
                                          struct json_writer *))
{
    char buffer[16384];
    struct json_writer w;
    json_write_start(&w, buffer, sizeof buffer, json_file_flush, b->out);
    write(s, i, &w);
    (void)json_write_end(&w);
    return (size_t)ftell(b->out);
}

static void make_batch(const struct pair_states *s, struct batch *b, size_t first)
{
    const size_t left = s->count - first;
    b->first = first;
    b->count = left < PAIRS_A_BATCH ? left : PAIRS_A_BATCH;
    rewind(b->out);
    for (size_t k = 0; k < b->count; k++) {
        const size_t i = s->pairs[first + k];
        b->parameters_end[k] = write_members(s, b, i, write_parameters);
        b->end[k] = write_members(s, b, i, write_rest);
    }
    b->status = fflush(b->out) == 0 && !ferror(b->out) ? STATUS_OK : STATUS_E_NOMEM;
}

/* ---- by threads ---- */

/* Called with the lock, which is released while it works. */
static bool make_next(void *context)
{
    struct pair_states *s = context;
    struct batch *b = &s->batches[s->make_next % s->batch_count];
    const size_t first = s->make_next * PAIRS_A_BATCH;
    if (b->stage != STAGE_FREE || first >= s->count) {
        return false;
    }
    s->make_next++;
    b->stage = STAGE_CLAIMED;
    threads_unlock(s->threads);
    make_batch(s, b, first);
    threads_lock(s->threads);
    b->stage = STAGE_MADE;
    return true;
}

static void await_batch(struct pair_states *s, struct batch *b)
{
    if (!s->threads) {
        make_batch(s, b, s->next);
        return;
    }
    threads_lock(s->threads);
    while (b->stage != STAGE_MADE) {
        threads_help(s->threads);
    }
    threads_unlock(s->threads);
}

static void free_batch(struct pair_states *s, struct batch *b)
{
    if (s->threads) {
        threads_lock(s->threads);
        b->stage = STAGE_FREE;
        threads_signal(s->threads);
        threads_unlock(s->threads);
    }
}

static struct batch *batch_of(const struct pair_states *s, size_t pair)
{
    return &s->batches[pair / PAIRS_A_BATCH % s->batch_count];
}

enum status pair_states_next(struct pair_states *states, struct pair_state *out)
{
    const size_t k = states->next % PAIRS_A_BATCH;
    struct batch *b = batch_of(states, states->next);
    if (k == 0) {
        if (states->next > 0) {
            free_batch(states, batch_of(states, states->next - 1));
        }
        await_batch(states, b);
    }
    if (b->status != STATUS_OK) {
        return b->status;
    }
    const size_t begin = k > 0 ? b->end[k - 1] : 0;
    *out = (struct pair_state){.parameters = b->text + begin,
                               .rest = b->text + b->parameters_end[k],
                               .parameters_bytes = b->parameters_end[k] - begin,
                               .rest_bytes = b->end[k] - b->parameters_end[k]};
    states->next++;
    return STATUS_OK;
}

/* ---- beginning and end ---- */

static bool make_batches(struct pair_states *s, size_t count)
{
    bool made = true;
    s->batches = calloc(count, sizeof *s->batches);
    s->batch_count = s->batches ? count : 0;
    for (size_t i = 0; i < s->batch_count; i++) {
        struct batch *b = &s->batches[i];
        b->out = open_memstream(&b->text, &b->text_bytes);
        made = made && b->out;
    }
    return made && s->batches;
}

enum status pair_states_create(const struct lab *lab, const struct lab_file *file,
                               const uint32_t *pairs, size_t count, struct threads *threads,
                               struct pair_states **out)
{
    struct pair_states *s = calloc(1, sizeof *s);
    if (!s) {
        return STATUS_E_NOMEM;
    }
    *s = (struct pair_states){
        .lab = lab, .file = file, .pairs = pairs, .count = count, .threads = threads};
    if (!make_batches(s, threads ? (size_t)BATCHES_A_THREAD * threads_count(threads) : 1)) {
        pair_states_destroy(s);
        return STATUS_E_NOMEM;
    }
    if (threads) {
        threads_add(threads, make_next, s);
    }
    *out = s;
    return STATUS_OK;
}

void pair_states_destroy(struct pair_states *states)
{
    if (!states) {
        return;
    }
    if (states->threads) {
        threads_remove(states->threads, states);
    }
    for (size_t i = 0; i < states->batch_count; i++) {
        if (states->batches[i].out) {
            (void)fclose(states->batches[i].out);
        }
        free(states->batches[i].text);
    }
    free(states->batches);
    free(states);
}
