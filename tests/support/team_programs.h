/* tests/support/team_programs.h - every well-formed sequence with few Locks over few resources,
 * as words of build_sequence(): a Go after each Lock, all released in the end. */
#ifndef TESTS_SUPPORT_TEAM_PROGRAMS_H
#define TESTS_SUPPORT_TEAM_PROGRAMS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "twin/team/step/team_params.h"

enum { PROGRAM_BYTES = 64, PROGRAM_HELD = 8 };

struct programs {
    char (*text)[PROGRAM_BYTES];
    size_t count, room;
    char resources[PROGRAM_HELD]; /* their letters, in order */
    enum team_locking locking;    /* only what it allows */
};

static inline void programs_add(struct programs *all, const char *text)
{
    if (all->count == all->room) {
        all->room = 2 * all->room + 64;
        all->text = realloc(all->text, all->room * sizeof *all->text);
        CU_ASSERT_PTR_NOT_NULL_FATAL(all->text);
    }
    (void)snprintf(all->text[all->count++], PROGRAM_BYTES, "%s", text);
}

/* "ordered": no Lock of what stands before anything held; "at_once": none while holding. */
static inline bool programs_allow(const struct programs *all, const char *held,
                                  const char *wants)
{
    for (const char *h = held; *h; h++) {
        for (const char *w = wants; *w; w++) {
            if (*h == *w || all->locking == TEAM_AT_ONCE ||
                (all->locking == TEAM_ORDERED && *w < *h)) {
                return false;
            }
        }
    }
    return true;
}

static inline void programs_grow(struct programs *all, const char *text, const char *held,
                                 int locks);

static inline void programs_lock(struct programs *all, const char *text, const char *held,
                                 int locks, const char *wants)
{
    char more[PROGRAM_BYTES];
    char holds[PROGRAM_HELD];
    if (programs_allow(all, held, wants)) {
        (void)snprintf(more, sizeof more, "%s+%s go ", text, wants);
        (void)snprintf(holds, sizeof holds, "%s%s", held, wants);
        programs_grow(all, more, holds, locks - 1);
    }
}

static inline void programs_grow(struct programs *all, const char *text, const char *held,
                                 int locks)
{
    char more[PROGRAM_BYTES];
    if (*text && !*held) {
        programs_add(all, text);
    }
    for (const char *h = held; *h; h++) {
        char rest[PROGRAM_HELD];
        (void)snprintf(rest, sizeof rest, "%.*s%s", (int)(h - held), held, h + 1);
        (void)snprintf(more, sizeof more, "%s-%c ", text, *h);
        programs_grow(all, more, rest, locks);
    }
    if (strlen(held) > 1) {
        (void)snprintf(more, sizeof more, "%s-%s ", text, held);
        programs_grow(all, more, "", locks);
    }
    for (const char *a = all->resources; *a && locks > 0; a++) {
        const char one[] = {*a, 0};
        programs_lock(all, text, held, locks, one);
    }
    for (const char *a = all->resources; *a && locks > 0; a++) {
        for (const char *b = a + 1; *b; b++) {
            const char two[] = {*a, *b, 0};
            programs_lock(all, text, held, locks, two);
        }
    }
}

/* To be freed with free(text). */
static inline struct programs programs_make(enum team_locking locking, const char *resources,
                                            int locks)
{
    struct programs all = {.locking = locking};
    (void)snprintf(all.resources, sizeof all.resources, "%s", resources);
    programs_grow(&all, "", "", locks);
    return all;
}

/* The textbook's check: is there a cycle in "asked for b while holding a", for two resources?
 */
static inline unsigned programs_nesting(const char *text)
{
    unsigned nested = 0; /* bit 0: B asked for under A; bit 1: A under B */
    unsigned held = 0;
    bool lock = false;
    unsigned group = 0;
    for (const char *c = text; *c; c++) {
        if (*c == '+' || *c == '-') {
            lock = *c == '+';
        } else if (*c == 'A' || *c == 'B') {
            group |= 1U << (*c - 'A');
        } else if (*c == ' ') {
            nested |= lock && (held & 1U) && (group & 2U) ? 1U : 0;
            nested |= lock && (held & 2U) && (group & 1U) ? 2U : 0;
            held = lock ? held | group : held & ~group;
            group = 0;
        }
    }
    return nested;
}

#endif
