/* twin/lab_access.c - the lab's heap of deadlines, and lookup of pairs, teams and codecs. */
#include "twin/lab_parts.h"

#include <string.h>

#include "base/numbers/hash.h"

/* ---- heap of deadlines --------------------------------------------------------------------
 */

/* Earlier deadline first; equal ones in the order of the pairs, so that a replay agrees. */
static bool is_earlier(const struct heap_item *a, const struct heap_item *b)
{
    return a->t_us < b->t_us || (a->t_us == b->t_us && a->pair < b->pair);
}

static void swap_places(struct lab *lab, size_t i, size_t k)
{
    const struct heap_item a = lab->heap[i];
    lab->heap[i] = lab->heap[k];
    lab->heap[k] = a;
    lab->place[lab->heap[i].pair] = (uint32_t)i;
    lab->place[a.pair] = (uint32_t)k;
}

static void sift_down(struct lab *lab, size_t i)
{
    for (;;) {
        size_t first = i;
        for (size_t child = 2 * i + 1;
             child <= 2 * i + 2 && child < lab_deadline_count(&lab->p); child++) {
            if (is_earlier(&lab->heap[child], &lab->heap[first])) {
                first = child;
            }
        }
        if (first == i) {
            return;
        }
        swap_places(lab, i, first);
        i = first;
    }
}

void lab_reorder_deadline(struct lab *lab, uint32_t index)
{
    const size_t pairs = lab->p.pair_count;
    size_t i = lab->place[index];
    lab->heap[i].t_us = index < pairs ? lab->parts[index].pair->deadline_us
                                      : lab->live[index - pairs]->deadline_us;
    while (i > 0 && is_earlier(&lab->heap[i], &lab->heap[(i - 1) / 2])) {
        swap_places(lab, i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
    sift_down(lab, i);
}

void lab_order_deadlines(struct lab *lab)
{
    const size_t n = lab_deadline_count(&lab->p);
    for (size_t i = 0; i < n; i++) {
        const size_t pairs = lab->p.pair_count;
        lab->heap[i].t_us =
            i < pairs ? lab->parts[i].pair->deadline_us : lab->live[i - pairs]->deadline_us;
        lab->heap[i].pair = (uint32_t)i;
        lab->place[i] = (uint32_t)i;
    }
    for (size_t i = n / 2; i-- > 0;) {
        sift_down(lab, i);
    }
}

int64_t lab_next_deadline(const struct lab *lab)
{
    return lab->heap[0].t_us;
}

/* ---- pairs and teams by their names --------------------------------------------------------
 */

size_t lab_first_place(const struct lab *lab, const char *id)
{
    return hash_text(id) & (lab->table_size - 1);
}

long lab_find_from(const struct lab *lab, const char *id, size_t k)
{
    while (lab->table[k] != 0) {
        const uint32_t i = lab->table[k] - 1;
        if (strcmp(lab->p.pairs[i].id, id) == 0) {
            return (long)i;
        }
        k = (k + 1) & (lab->table_size - 1);
    }
    return -1;
}

long lab_find(const struct lab *lab, const char *id)
{
    return lab_find_from(lab, id, lab_first_place(lab, id));
}

long lab_find_team(const struct lab *lab, const char *name)
{
    for (size_t k = 0; k < lab->p.team_count; k++) {
        if (strcmp(lab->p.teams[k].name, name) == 0) {
            return (long)k;
        }
    }
    return -1;
}

/* ---- codecs -------------------------------------------------------------------------------
 */

const struct codec *lab_codec_of(const struct pair_params *p)
{
    const struct codec *codec = codec_find(p->codec);
    return codec ? codec : codecs[0];
}

void lab_codec_pair(const struct lab *lab, size_t index, struct codec_pair *pair)
{
    const struct pair_params *p = &lab->p.pairs[index];
    const struct lab_member *m = &lab->member[index];
    const struct team_params *team = m->team != TEAM_NONE ? &lab->p.teams[m->team] : NULL;
    *pair = (struct codec_pair){
        .codec = lab_codec_of(p),
        .prefix = lab->p.prefix ? lab->p.prefix : "",
        .id = p->id,
        .team = team ? team->name : NULL,
        .robot = team ? team->robots[m->robot].name : NULL,
        .active_side = p->expected[SIDE_REAL] == PAIR_NEVER ? SIDE_VIRTUAL : SIDE_REAL,
        .options = &p->speaks,
        .state = lab->parts[index].codec,
        .repeated = p->mode == PAIR_LINK};
}

const struct codec_pair *lab_foreign(const struct lab *lab, size_t k)
{
    return k < lab->foreign_count ? &lab->foreign[k] : NULL;
}

bool lab_addressed(const struct lab *lab, const char *topic, struct topic_hits *hits)
{
    return lab->topics && topic_index_find(lab->topics, topic, hits);
}

/* ---- reading ------------------------------------------------------------------------------
 */

size_t lab_pair_count(const struct lab *lab)
{
    return lab->p.pair_count;
}

const struct pair *lab_pair(const struct lab *lab, size_t index)
{
    return lab->parts[index].pair;
}

const struct pair_params *lab_pair_params(const struct lab *lab, size_t index)
{
    return &lab->p.pairs[index];
}

const struct pair_dynamics *lab_dynamics(const struct lab *lab, size_t index)
{
    return lab->parts[index].dynamics;
}

const struct pair_following *lab_following(const struct lab *lab, size_t index)
{
    return lab->parts[index].following;
}

const struct live_map *lab_map(const struct lab *lab, size_t index)
{
    return lab->parts[index].map;
}

const struct pair_missions *lab_missions(const struct lab *lab, size_t index)
{
    return lab->parts[index].missions;
}

size_t lab_team_count(const struct lab *lab)
{
    return lab->p.team_count;
}

const struct team_live *lab_team(const struct lab *lab, size_t index)
{
    return lab->live[index];
}

const struct team_params *lab_team_params(const struct lab *lab, size_t index)
{
    return &lab->p.teams[index];
}

const struct lab_counts *lab_counts(const struct lab *lab)
{
    return &lab->state->counts;
}

int64_t lab_time(const struct lab *lab)
{
    return lab->state->t_us;
}

bool lab_stopped(const struct lab *lab)
{
    return lab->state->stopped;
}
