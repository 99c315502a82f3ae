/* twin/lab_init.c - sizes and layout of the lab's memory, and its initialisation. */
#include "twin/lab_parts.h"

#include <assert.h>
#include <string.h>

#include "base/numbers/hash.h"

/* ---- sizes --------------------------------------------------------------------------------
 */

static size_t table_size_for(size_t pairs)
{
    size_t size = 16;
    while (size < 4 * pairs) {
        size *= 2;
    }
    return size;
}

static size_t parts_bytes_for(const struct lab_params *p)
{
    size_t bytes = 0;
    for (size_t i = 0; i < p->pair_count; i++) {
        bytes += pair_bytes(&p->pairs[i]);
        bytes += pair_dynamics_bytes(&p->pairs[i].dynamics);
        bytes += pair_following_bytes(p->pairs[i].following);
        bytes += align_bytes(lab_codec_of(&p->pairs[i])->state_bytes);
        bytes += pair_missions_bytes(&p->pairs[i]);
        bytes += live_map_bytes(&p->pairs[i].live_map);
    }
    for (size_t i = 0; i < p->team_count; i++) {
        bytes += team_live_state_bytes(&p->teams[i]);
    }
    return bytes;
}

static uint32_t remember_max(const struct lab_params *p)
{
    return p->remember_max > 0 ? p->remember_max : DELIVERY_USUAL;
}

int64_t lab_remember_us(const struct lab_params *p)
{
    return p->remember_us > 0 ? p->remember_us : INT64_C(1000000) * DELIVERY_REMEMBER_S;
}

size_t lab_state_bytes(const struct lab_params *p)
{
    const size_t n = lab_deadline_count(p);
    return align_bytes(sizeof(struct lab_state)) + delivery_bytes(remember_max(p)) +
           parts_bytes_for(p) + align_bytes(n * sizeof(struct heap_item)) +
           align_bytes(n * sizeof(uint32_t)) +
           align_bytes(table_size_for(p->pair_count) * sizeof(uint32_t));
}

static size_t members_bytes_for(const struct lab_params *p)
{
    return align_bytes(p->pair_count * (sizeof(struct pair_parts) + sizeof(struct lab_member)));
}

/* Bytes of one slot of each pair; *most is the largest number of slots. */
static size_t places_step_for(const struct lab_params *p, size_t *most)
{
    size_t bytes = 0;
    *most = 0;
    for (size_t i = 0; i < p->pair_count; i++) {
        bytes += pair_place_bytes(&p->pairs[i]);
        *most = p->pairs[i].outstanding_max > *most ? p->pairs[i].outstanding_max : *most;
    }
    return bytes;
}

static size_t scratch_bytes_for(const struct lab_params *p)
{
    return align_bytes(team_live_scratch_bytes(p->teams, p->team_count));
}

/* All pairs plan in the same memory, one after another. */
static size_t plans_bytes_for(const struct lab_params *p)
{
    size_t most = 0;
    for (size_t i = 0; i < p->pair_count; i++) {
        const size_t bytes = pair_missions_memory(&p->pairs[i]);
        most = bytes > most ? bytes : most;
    }
    return align_bytes(most);
}

size_t lab_touched_bytes(const struct lab_params *p)
{
    return align_bytes(sizeof(struct lab)) + lab_state_bytes(p) + members_bytes_for(p) +
           lab_topics_bytes(p) + scratch_bytes_for(p) + plans_bytes_for(p);
}

size_t lab_bytes(const struct lab_params *p)
{
    size_t most = 0;
    const size_t step = places_step_for(p, &most);
    return lab_touched_bytes(p) + most * step;
}

/* ---- set-up -------------------------------------------------------------------------------
 */

static void fill_table(struct lab *lab)
{
    for (size_t i = 0; i < lab->p.pair_count; i++) {
        size_t k = hash_text(lab->p.pairs[i].id) & (lab->table_size - 1);
        while (lab->table[k] != 0) {
            k = (k + 1) & (lab->table_size - 1);
        }
        lab->table[k] = (uint32_t)i + 1;
    }
}

void lab_set_places(struct lab *lab)
{
    const char *at = lab->places;
    for (size_t i = 0; i < lab->p.pair_count; i++) {
        lab->parts[i].places = at;
        pair_set_places(lab->parts[i].pair, at, lab->places_step);
        at += pair_place_bytes(&lab->p.pairs[i]);
    }
}

struct mission_place lab_mission_place(const struct lab *lab, size_t i)
{
    return (struct mission_place){&lab->p.pairs[i], lab->parts[i].map, lab->plans};
}

/* Places the pairs first, then the parts that only some have. Everything from the pairs to the
 * deliveries is zero. Returns the end. */
static char *place_parts(struct lab *lab, char *at)
{
    const size_t n = lab->p.pair_count;
    lab->parts = (void *)((char *)lab->state + lab->state_bytes);
    for (size_t i = 0; i < n; i++) {
        lab->parts[i] = (struct pair_parts){.pair = (void *)at, .deliveries = lab->deliveries};
        pair_init(lab->parts[i].pair, &lab->p.pairs[i], (uint32_t)i);
        at += pair_bytes(&lab->p.pairs[i]);
    }
    memset(at, 0, (size_t)((char *)lab->deliveries - at)); /* the pairs were cleared already */
    for (size_t i = 0; i < n; i++) {
        const struct pair_params *p = &lab->p.pairs[i];
        if (pair_dynamics_wanted(&p->dynamics)) {
            lab->parts[i].dynamics = (void *)at;
            pair_dynamics_init(lab->parts[i].dynamics, &p->dynamics);
            at += pair_dynamics_bytes(&p->dynamics);
        }
        if (pair_following_wanted(p->following)) {
            lab->parts[i].following = (void *)at;
            pair_following_init(lab->parts[i].following, p->following);
            at += pair_following_bytes(p->following);
        }
        if (lab_codec_of(p)->state_bytes > 0) {
            lab->parts[i].codec = at;
            at += align_bytes(lab_codec_of(p)->state_bytes);
        }
        if (pair_missions_bytes(p) > 0) {
            lab->parts[i].missions = (void *)at;
            at += pair_missions_bytes(p);
        }
        if (live_map_wanted(&p->live_map)) {
            lab->parts[i].map = (void *)at;
            live_map_init(lab->parts[i].map);
            at += live_map_bytes(&p->live_map);
        }
    }
    return at;
}

/* Places the teams behind the pairs' parts. Returns the end. */
static char *place_teams(struct lab *lab, char *at)
{
    const size_t n = lab->p.pair_count;
    lab->member = (void *)(lab->parts + n);
    for (size_t i = 0; i < n; i++) {
        lab->member[i] = (struct lab_member){TEAM_NONE, TEAM_NONE};
    }
    for (size_t k = 0; k < lab->p.team_count; k++) {
        const struct team_params *p = &lab->p.teams[k];
        lab->live[k] = (void *)at;
        team_live_init(lab->live[k], p, (uint32_t)k, (uint32_t)(n + k));
        at += team_live_state_bytes(p);
    }
    return at;
}

/* Finds the pair of each robot by its id. */
static void join_teams(struct lab *lab)
{
    for (size_t k = 0; k < lab->p.team_count; k++) {
        const struct team_params *p = &lab->p.teams[k];
        for (uint16_t i = 0; i < p->robot_count; i++) {
            const long pair = p->robots[i].pair[0] ? lab_find(lab, p->robots[i].pair) : -1;
            if (pair >= 0) {
                const struct pair_params *of = &lab->p.pairs[pair];
                team_live_set_pair(lab->live[k], p, i, (uint32_t)pair,
                                   of->expected[SIDE_REAL] == PAIR_NEVER);
                lab->member[pair] = (struct lab_member){(uint16_t)k, i};
            }
        }
    }
}

struct lab *lab_init(void *memory, const struct lab_params *p)
{
    assert(memory && p && p->pairs);
    assert(p->pair_count >= 1 && p->pair_count <= LAB_PAIRS_MAX);
    assert(p->team_count <= TEAMS_MAX);
    const size_t n = lab_deadline_count(p);
    struct lab *lab = memory;
    lab->p = *p;
    lab->state_bytes = lab_state_bytes(p);
    lab->table_size = table_size_for(p->pair_count);
    size_t most = 0;
    lab->places_step = places_step_for(p, &most);
    lab->fetched = 0;
    lab->before = NULL;
    lab->watcher = NULL;
    char *at = (char *)memory + align_bytes(sizeof *lab);
    memset(at, 0, align_bytes(sizeof *lab->state));
    lab->state = (void *)at;
    at += align_bytes(sizeof *lab->state);
    lab->deliveries = (void *)((char *)lab->state +
                               (lab->state_bytes - delivery_bytes(remember_max(&lab->p))));
    delivery_init(lab->deliveries, remember_max(p), lab_remember_us(p));
    at = place_teams(lab, place_parts(lab, at));
    lab->heap = (void *)at;
    at += align_bytes(n * sizeof *lab->heap);
    lab->place = (void *)at;
    at += align_bytes(n * sizeof *lab->place);
    lab->table = (void *)at;
    lab->state->t_us = LAB_TIME_NONE;
    lab->state->last_message_us = LAB_TIME_NONE;
    lab->state->away_until_us = LAB_TIME_NONE;
    for (size_t i = 0; i < n; i++) {
        lab->heap[i] = (struct heap_item){LAB_TIME_MAX, (uint32_t)i};
        lab->place[i] = (uint32_t)i;
    }
    fill_table(lab);
    join_teams(lab);
    char *behind = lab_place_topics(lab, (char *)lab->parts + members_bytes_for(p));
    lab->scratch = behind;
    lab->plans = behind + scratch_bytes_for(p);
    lab->places = (char *)lab->plans + plans_bytes_for(p);
    lab_set_places(lab);
    return lab;
}
