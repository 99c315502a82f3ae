#include "twin/team/check/team_states.h"

#include <string.h>

#include "base/numbers/hash.h"

enum { FIRST_ROOM = 64, TAG_SHIFT = 32 };

bool team_array_reserve(struct checker_memory *memory, struct team_array *array, size_t more,
                        size_t item_bytes)
{
    if (array->room - array->count >= more) {
        return true;
    }
    size_t room = array->room + array->room / 2 + FIRST_ROOM;
    room = room - array->count >= more ? room : array->count + more;
    const size_t extra = (room - array->room) * item_bytes;
    if (extra > memory->limit || memory->used > memory->limit - extra) {
        return false;
    }
    void *items = memory->resize(memory->context, array->items, room * item_bytes);
    if (!items) {
        return false;
    }
    memory->used += extra;
    array->items = items;
    array->room = room;
    return true;
}

void team_array_free(struct checker_memory *memory, struct team_array *array, size_t item_bytes)
{
    if (array->items) {
        (void)memory->resize(memory->context, array->items, 0);
        memory->used -= array->room * item_bytes;
    }
    *array = (struct team_array){0};
}

void team_states_free(struct team_states *s)
{
    team_array_free(s->memory, &s->states, sizeof(struct team_state));
    team_array_free(s->memory, &s->keys, 1);
    team_array_free(s->memory, &s->edges, sizeof(uint32_t));
    team_array_free(s->memory, &s->alarmed, sizeof(struct team_alarmed));
    team_array_free(s->memory, &s->slots, sizeof(uint64_t));
}

/* FNV-1a has weak low bits, and these choose the slot. */
static uint64_t mix_hash(const uint8_t *key, size_t bytes)
{
    uint64_t hash = hash_bytes(HASH_START, key, bytes);
    hash ^= hash >> 33;
    hash *= UINT64_C(0xff51afd7ed558ccd);
    return hash ^ (hash >> 33);
}

/* A slot holds the upper half of the hash and the state's number + 1. */
static uint64_t make_slot(uint64_t hash, uint32_t number)
{
    return (hash >> TAG_SHIFT << TAG_SHIFT) | ((uint64_t)number + 1);
}

/* Keeps at least twice as many slots as states. Their number is a power of two. */
static bool widen_slots(struct team_states *s)
{
    const size_t count = s->slots.count == 0 ? FIRST_ROOM : s->slots.count * 2;
    struct team_array wider = {0};
    if (!team_array_reserve(s->memory, &wider, count, sizeof(uint64_t))) {
        return false;
    }
    wider.count = count;
    uint64_t *slots = wider.items;
    memset(slots, 0, count * sizeof *slots);
    for (uint32_t i = 0; i < (uint32_t)s->states.count; i++) {
        const uint64_t hash = mix_hash(team_state_key(s, i), team_state_at(s, i)->key_bytes);
        size_t at = (size_t)hash & (count - 1);
        while (slots[at] != 0) {
            at = (at + 1) & (count - 1);
        }
        slots[at] = make_slot(hash, i);
    }
    team_array_free(s->memory, &s->slots, sizeof(uint64_t));
    s->slots = wider;
    return true;
}

static enum status add_state(struct team_states *s, const uint8_t *key, size_t key_bytes)
{
    if (s->states.count >= TEAM_STATE_NONE - 1) {
        return STATUS_E_FULL;
    }
    if (!team_array_reserve(s->memory, &s->states, 1, sizeof(struct team_state)) ||
        !team_array_reserve(s->memory, &s->keys, key_bytes, 1)) {
        return STATUS_E_NOMEM;
    }
    struct team_state *state = (struct team_state *)s->states.items + s->states.count++;
    *state = (struct team_state){
        .key_at = s->keys.count, .key_bytes = (uint32_t)key_bytes, .parent = TEAM_STATE_NONE};
    memcpy((uint8_t *)s->keys.items + s->keys.count, key, key_bytes);
    s->keys.count += key_bytes;
    return STATUS_OK;
}

enum status team_states_find(struct team_states *s, const uint8_t *key, size_t key_bytes,
                             uint32_t *number, bool *is_new)
{
    if (s->slots.count / 2 <= s->states.count && !widen_slots(s)) {
        return STATUS_E_NOMEM;
    }
    const uint64_t hash = mix_hash(key, key_bytes);
    uint64_t *slots = s->slots.items;
    size_t at = (size_t)hash & (s->slots.count - 1);
    for (; slots[at] != 0; at = (at + 1) & (s->slots.count - 1)) {
        const uint32_t found = (uint32_t)slots[at] - 1;
        if (slots[at] == make_slot(hash, found) &&
            team_state_at(s, found)->key_bytes == key_bytes &&
            memcmp(team_state_key(s, found), key, key_bytes) == 0) {
            *number = found;
            *is_new = false;
            return STATUS_OK;
        }
    }
    const enum status st = add_state(s, key, key_bytes);
    if (st == STATUS_OK) {
        *number = (uint32_t)s->states.count - 1;
        *is_new = true;
        slots[at] = make_slot(hash, *number);
    }
    return st;
}

bool team_states_add_alarmed(struct team_states *s, uint32_t number, uint64_t dead,
                             uint64_t blocked, bool *changed)
{
    const struct team_alarmed *alarmed = s->alarmed.items;
    for (uint32_t i = team_state_at(s, number)->alarmed; i != 0; i = alarmed[i - 1].next) {
        if ((alarmed[i - 1].dead & ~dead) == 0 && (alarmed[i - 1].blocked & ~blocked) == 0) {
            *changed = false;
            return true;
        }
    }
    if (s->alarmed.count >= TEAM_STATE_NONE - 1 ||
        !team_array_reserve(s->memory, &s->alarmed, 1, sizeof(struct team_alarmed))) {
        return false;
    }
    struct team_state *state = team_state_at(s, number);
    ((struct team_alarmed *)s->alarmed.items)[s->alarmed.count++] =
        (struct team_alarmed){dead, blocked, state->alarmed};
    state->alarmed = (uint32_t)s->alarmed.count;
    *changed = true;
    return true;
}

bool team_states_connect(struct team_states *s, uint32_t from, uint32_t to)
{
    if (!team_array_reserve(s->memory, &s->edges, 1, sizeof(uint32_t))) {
        return false;
    }
    struct team_state *state = team_state_at(s, from);
    if (state->edge_count == 0) {
        state->first_edge = s->edges.count;
    }
    ((uint32_t *)s->edges.items)[s->edges.count++] = to;
    state->edge_count++;
    return true;
}

/* ---- the queue ----
 *
 * A block is packed as its head, a bit per word that is set if the word differs from the model,
 * and those words. */

enum { BITS = 64, SHIFT_FROM = 4096 };

void team_backlog_free(struct team_backlog *b)
{
    team_array_free(b->memory, &b->packed, sizeof(uint64_t));
}

static uint64_t read_word(const void *block, size_t i)
{
    uint64_t word;
    memcpy(&word, (const uint8_t *)block + i * sizeof word, sizeof word);
    return word;
}

static size_t count_masks(const struct team_backlog *b)
{
    return (b->words + BITS - 1) / BITS;
}

/* Drops the processed blocks when they are the majority. */
static void drop_done(struct team_backlog *b)
{
    uint64_t *packed = b->packed.items;
    if (b->next > b->packed.count / 2 && b->next > SHIFT_FROM) {
        b->packed.count -= b->next;
        memmove(packed, packed + b->next, b->packed.count * sizeof *packed);
        b->next = 0;
    }
}

bool team_backlog_add(struct team_backlog *b, const void *head, size_t head_words,
                      const void *block)
{
    const size_t masks = count_masks(b);
    drop_done(b);
    if (!team_array_reserve(b->memory, &b->packed, head_words + masks + b->words,
                            sizeof(uint64_t))) {
        return false;
    }
    uint64_t *mask = (uint64_t *)b->packed.items + b->packed.count;
    memcpy(mask, head, head_words * sizeof *mask);
    mask += head_words;
    memset(mask, 0, masks * sizeof *mask);
    uint64_t *at = mask + masks;
    for (size_t i = 0; i < b->words; i++) {
        const uint64_t word = read_word(block, i);
        if (word != read_word(b->model, i)) {
            mask[i / BITS] |= UINT64_C(1) << (i % BITS);
            *at++ = word;
        }
    }
    b->packed.count = (size_t)(at - (uint64_t *)b->packed.items);
    b->waiting++;
    return true;
}

void team_backlog_pop(struct team_backlog *b, void *head, size_t head_words, void *block)
{
    const uint64_t *mask = (const uint64_t *)b->packed.items + b->next;
    memcpy(head, mask, head_words * sizeof *mask);
    mask += head_words;
    const uint64_t *at = mask + count_masks(b);
    for (size_t i = 0; i < b->words; i++) {
        const bool differs = (mask[i / BITS] >> (i % BITS) & 1U) != 0;
        const uint64_t word = differs ? *at++ : read_word(b->model, i);
        memcpy((uint8_t *)block + i * sizeof word, &word, sizeof word);
    }
    b->next = (size_t)(at - (const uint64_t *)b->packed.items);
    b->waiting--;
}
