/* twin/team/check/team_backlog.c - packs each block as its head, a bit per word that is set if
 * the word differs from the model, and those words.
 */
#include "twin/team/check/team_backlog.h"

#include <string.h>

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
