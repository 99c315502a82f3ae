/* twin/lab_state.c - checkpoints: saves and loads the lab's state. */
#include <stddef.h>
#include <string.h>

#include "base/errors/status.h"
#include "base/numbers/hash.h"
#include "identification/model/models.h"
#include "twin/lab_parts.h"

/* Increase it with every change of the meaning of struct pair or struct lab_state. */
enum { LAB_LAYOUT = 26 };

uint64_t lab_layout(const struct lab_params *p)
{
    const size_t sizes[] = {LAB_LAYOUT,
                            sizeof(struct lab_state),
                            sizeof(struct pair),
                            sizeof(struct pair_linked),
                            sizeof(struct pair_slot),
                            sizeof(struct pair_relay),
                            sizeof(struct delivery_item),
                            sizeof(struct pair_dynamics),
                            sizeof(struct pair_following),
                            sizeof(struct pair_missions),
                            sizeof(struct live_map),
                            sizeof(struct team_live),
                            sizeof(struct team_live_robot),
                            sizeof(struct team_live_answer),
                            p->pair_count,
                            p->team_count,
                            (size_t)lab_remember_us(p),
                            lab_state_bytes(p)};
    uint64_t hash = hash_bytes(HASH_START, sizes, sizeof sizes);
    for (size_t i = 0; i < codec_count; i++) {
        hash = hash_bytes(hash, codecs[i]->name, strlen(codecs[i]->name) + 1);
        hash = hash_bytes(hash, &codecs[i]->state_bytes, sizeof codecs[i]->state_bytes);
    }
    for (size_t i = 0; i < mission_kind_count; i++) {
        hash = hash_bytes(hash, &mission_kinds[i]->plan_bytes, sizeof(size_t));
        hash = hash_bytes(hash, &mission_kinds[i]->work_bytes, sizeof(size_t));
    }
    /* Sets and fits refer to models by index; of models from files only those in use count. */
    hash = models_hash(hash);
    for (size_t i = 0; i < p->pair_count; i++) {
        hash = model_hash_loaded(p->pairs[i].dynamics.model, hash);
        if (pair_following_wanted(p->pairs[i].following)) {
            hash = model_hash_loaded(p->pairs[i].following->model, hash);
        }
    }
    return hash;
}

/* An open command in a checkpoint, followed by the contents of its slot. */
struct saved_command {
    uint32_t pair, place;
};

/* Bytes with a fixed place in a checkpoint. */
static size_t placed_bytes(const struct lab *lab)
{
    return (size_t)((const char *)lab->heap - (const char *)lab->state);
}

static size_t place_of(const struct lab *lab, const void *part)
{
    return (size_t)((const char *)part - (const char *)lab->state);
}

size_t lab_part_count(const struct lab *lab)
{
    return lab->p.pair_count + lab->p.team_count;
}

static void save_bytes(const struct lab *lab, struct lab_save *save, const void *part,
                       size_t bytes)
{
    save->write_part(save->context, place_of(lab, part), part, bytes);
}

void lab_save_begin(const struct lab *lab, struct lab_save *save)
{
    save_bytes(lab, save, lab->state, sizeof *lab->state);
    /* Decoding changes the codecs' states before the step, so they are saved first. */
    for (size_t i = 0; i < lab->p.pair_count; i++) {
        if (lab->parts[i].codec) {
            save_bytes(lab, save, lab->parts[i].codec,
                       lab_codec_of(&lab->p.pairs[i])->state_bytes);
        }
    }
    const size_t delivered = delivery_used_bytes(lab->deliveries);
    save->write_part(save->context, placed_bytes(lab), lab->deliveries, delivered);
    save->used = placed_bytes(lab) + delivered;
}

static void save_commands(struct lab_save *save, const struct pair *pair,
                          const struct pair_params *p)
{
    const size_t bytes = pair_place_bytes(p);
    for (int k = -1; pair_next_open(pair, &k);) {
        const struct saved_command head = {pair->index, (uint32_t)k};
        save->write_part(save->context, save->used, &head, sizeof head);
        save->write_part(save->context, save->used + sizeof head, pair_look_slot(pair, k),
                         bytes);
        save->used += sizeof head + bytes;
    }
}

static void save_map(const struct lab *lab, struct lab_save *save, const struct live_map *map,
                     const struct live_map_params *p)
{
    const void *part = NULL;
    size_t bytes = 0;
    for (size_t k = 0; (bytes = live_map_piece(map, p, k, &part)) > 0; k++) {
        save_bytes(lab, save, part, bytes);
    }
}

void lab_save_part(const struct lab *lab, struct lab_save *save, size_t part)
{
    if (part >= lab->p.pair_count) {
        const size_t team = part - lab->p.pair_count;
        save_bytes(lab, save, lab->live[team], team_live_state_bytes(&lab->p.teams[team]));
        return;
    }
    const struct pair_params *p = &lab->p.pairs[part];
    const struct pair_parts *parts = &lab->parts[part];
    save_bytes(lab, save, parts->pair, pair_used_bytes(parts->pair));
    if (p->mode == PAIR_LINK || pair_is_arm(p)) {
        const size_t moved = pair_moved_bytes(p);
        save_bytes(lab, save, (const char *)parts->pair + moved, pair_bytes(p) - moved);
    }
    if (parts->dynamics) {
        save_bytes(lab, save, parts->dynamics, pair_dynamics_bytes(&p->dynamics));
    }
    if (parts->following) {
        save_bytes(lab, save, parts->following, pair_following_bytes(p->following));
    }
    if (parts->missions) {
        save_bytes(lab, save, parts->missions, pair_missions_bytes(p));
    }
    if (parts->map) {
        save_map(lab, save, parts->map, &p->live_map);
    }
    save_commands(save, parts->pair, p);
}

void lab_save_unchanged(const struct lab *lab, struct lab_save *save, size_t part)
{
    if (part < lab->p.pair_count) {
        save_commands(save, lab->parts[part].pair, &lab->p.pairs[part]);
    }
}

/* ---- loading
 * ------------------------------------------------------------------------------ */

/* Reads the used slots of pair i from a state whose fixed part is complete. */
static uint64_t read_mask(const struct lab *lab, const char *state, size_t i)
{
    uint64_t mask = 0;
    memcpy(&mask, state + place_of(lab, lab->parts[i].pair) + offsetof(struct pair, open_mask),
           sizeof mask);
    return mask;
}

static const char *next_command(const struct lab *lab, const char *at, const char *end,
                                struct saved_command *head)
{
    if ((size_t)(end - at) < sizeof *head) {
        return NULL;
    }
    memcpy(head, at, sizeof *head);
    const bool fits =
        head->pair < lab->p.pair_count &&
        head->place < lab->p.pairs[head->pair].outstanding_max &&
        (size_t)(end - at) - sizeof *head >= pair_place_bytes(&lab->p.pairs[head->pair]);
    return fits ? at + sizeof *head : NULL;
}

/* Does the state have the contents of each used slot? */
static bool has_commands(const struct lab *lab, const char *state, const char *at,
                         const char *end)
{
    struct saved_command head;
    uint64_t wanted = 0;
    uint64_t found = 0;
    for (size_t i = 0; i < lab->p.pair_count; i++) {
        for (uint64_t mask = read_mask(lab, state, i); mask != 0; mask &= mask - 1) {
            wanted++;
        }
    }
    while (at < end) {
        at = next_command(lab, at, end, &head);
        if (!at || !(read_mask(lab, state, head.pair) >> head.place & 1U)) {
            return false;
        }
        at += pair_place_bytes(&lab->p.pairs[head.pair]);
        found++;
    }
    return found == wanted;
}

static void load_commands(struct lab *lab, const char *at, const char *end)
{
    struct saved_command head;
    while (at < end && (at = next_command(lab, at, end, &head))) {
        const size_t bytes = pair_place_bytes(&lab->p.pairs[head.pair]);
        memcpy(pair_slot_at(lab->parts[head.pair].pair, (int)head.place), at, bytes);
        at += bytes;
    }
}

enum status lab_load(struct lab *lab, const void *state, size_t bytes)
{
    struct delivery_memory deliveries;
    const char *from = state;
    const size_t placed = placed_bytes(lab);
    if (bytes < placed + sizeof deliveries) {
        return STATUS_E_STALE;
    }
    memcpy(&deliveries, from + placed, sizeof deliveries);
    const size_t used = delivery_used_bytes(&deliveries);
    if (deliveries.max != lab->deliveries->max || deliveries.heads != lab->deliveries->heads ||
        bytes < placed + used || !has_commands(lab, from, from + placed + used, from + bytes)) {
        return STATUS_E_STALE;
    }
    memcpy(lab->state, state, placed);
    lab_set_places(lab);
    load_commands(lab, from + placed + used, from + bytes);
    memcpy(lab->deliveries, from + placed, used);
    delivery_index(lab->deliveries);
    for (size_t i = 0; i < lab->p.pair_count; i++) {
        if (lab->parts[i].missions) {
            const struct mission_place place = lab_mission_place(lab, i);
            pair_missions_rebind(lab->parts[i].missions, &place);
        }
        if (lab->parts[i].map) {
            live_map_restore(lab->parts[i].map, &lab->p.pairs[i].live_map);
        }
    }
    lab_order_deadlines(lab);
    for (size_t k = 0; k < lab->p.team_count; k++) {
        team_live_rebind(lab->live[k], &lab->p.teams[k]);
    }
    return STATUS_OK;
}

void lab_skip_numbers(struct lab *lab, uint64_t gap)
{
    for (size_t i = 0; gap > 0 && i < lab_part_count(lab); i++) {
        const bool is_pair = i < lab->p.pair_count;
        if (lab->before) {
            lab->before(lab->watcher, i);
        }
        if (is_pair) {
            struct pair *pair = lab->parts[i].pair;
            pair_withhold(pair, lab->state->t_us);
            pair->counts.numbers_skipped += gap;
            pair->parameters.last_version += PARAMETERS_SKIPPED;
        } else {
            const size_t k = i - lab->p.pair_count;
            team_live_skip_numbers(lab->live[k], &lab->p.teams[k], gap);
        }
    }
}
