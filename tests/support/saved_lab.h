/* tests/support/saved_lab.h - a lab's state as a checkpoint holds it; to be freed. */
#ifndef TESTS_SUPPORT_SAVED_LAB_H
#define TESTS_SUPPORT_SAVED_LAB_H

#include <stdlib.h>
#include <string.h>

#include "twin/lab.h"

struct saved_lab {
    char *bytes; /* [room] zeroed but for what was put */
    size_t room;
    struct lab_save save;
};

static inline void saved_lab_write(void *context, size_t at, const void *bytes, size_t n)
{
    struct saved_lab *s = context;
    if (at + n > s->room) {
        const size_t room = 2 * (at + n);
        s->bytes = realloc(s->bytes, room);
        if (!s->bytes) {
            abort();
        }
        memset(s->bytes + s->room, 0, room - s->room);
        s->room = room;
    }
    memcpy(s->bytes + at, bytes, n);
}

static inline void saved_lab_begin(struct saved_lab *s, const struct lab *lab)
{
    s->save = (struct lab_save){.write_part = saved_lab_write, .context = s};
    lab_save_begin(lab, &s->save);
}

static inline void *saved_lab(const struct lab *lab, size_t *bytes)
{
    struct saved_lab s = {0};
    saved_lab_begin(&s, lab);
    for (size_t part = 0; part < lab_part_count(lab); part++) {
        lab_save_part(lab, &s.save, part);
    }
    *bytes = s.save.used;
    return s.bytes;
}

#endif
