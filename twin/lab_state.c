#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "twin/lab_parts.h"
#include "twin/models/models.h"

/* Changes with every change of struct pair's or struct lab_state's meaning. */
enum { LAB_LAYOUT = 19 };

uint64_t lab_layout(const struct lab_params *p)
{
    const size_t sizes[] = {LAB_LAYOUT,
                            sizeof(struct lab_state),
                            sizeof(struct pair),
                            sizeof(struct pair_slot),
                            sizeof(struct pair_relay),
                            sizeof(struct delivery_item),
                            sizeof(struct pair_dynamics),
                            sizeof(struct pair_following),
                            sizeof(struct crew),
                            sizeof(struct crew_robot),
                            sizeof(struct crew_answer),
                            p->pair_count,
                            p->team_count,
                            (size_t)lab_remember_us(p),
                            lab_state_bytes(p)};
    uint64_t hash = hash_bytes(HASH_START, sizes, sizeof sizes);
    for (size_t i = 0; i < codec_count; i++) {
        hash = hash_bytes(hash, codecs[i]->name, strlen(codecs[i]->name) + 1);
        hash = hash_bytes(hash, &codecs[i]->state_bytes, sizeof codecs[i]->state_bytes);
    }
    /* Sets and fits name models by their places; of those from files the ones in use count. */
    hash = models_hash(hash);
    for (size_t i = 0; i < p->pair_count; i++) {
        hash = model_hash_loaded(p->pairs[i].dynamics.model, hash);
        hash = model_hash_loaded(p->pairs[i].following.model, hash);
    }
    return hash;
}

const void *lab_state(const struct lab *lab, size_t *bytes)
{
    *bytes = lab_fixed_bytes(lab) + delivery_used_bytes(lab->deliveries);
    return lab->state;
}

size_t lab_state_max(const struct lab *lab)
{
    return lab->state_bytes;
}

enum status lab_load(struct lab *lab, const void *state, size_t bytes)
{
    struct delivery_memory deliveries;
    const size_t fixed = lab_fixed_bytes(lab);
    if (bytes < fixed + sizeof deliveries) {
        return STATUS_E_STALE;
    }
    memcpy(&deliveries, (const char *)state + fixed, sizeof deliveries);
    if (deliveries.max != lab->deliveries->max || deliveries.heads != lab->deliveries->heads ||
        bytes != fixed + delivery_used_bytes(&deliveries)) {
        return STATUS_E_STALE;
    }
    memcpy(lab->state, state, bytes);
    delivery_index(lab->deliveries);
    for (size_t k = 0; k < lab->p.team_count; k++) {
        crew_rebind(lab->crew[k], &lab->p.teams[k]);
    }
    return STATUS_OK;
}
