#include "logger/message/codecs.h"

#include <string.h>

#include "base/status.h"
#include "logger/message/lab_line.h"

#define CODEC(row) &(row),
const struct codec *const codecs[] = {
#include "logger/message/codecs.def"
};
#undef CODEC
const size_t codec_count = COUNT(codecs);
_Static_assert(COUNT(codecs) <= CODECS_MAX, "room for a set of them all");

const struct codec *codec_find(const char *name)
{
    for (size_t i = 0; i < codec_count; i++) {
        if (strcmp(codecs[i]->name, name) == 0) {
            return codecs[i];
        }
    }
    return NULL;
}

/* What one codec of several says, on its way to who asked. */
struct filter {
    const struct codec_set *set;
    const struct codec *codec;
    event_emit *emit;
    void *context;
    size_t count;
};

static void emit_filtered(void *context, const struct event *event)
{
    struct filter *f = context;
    const struct codec *spoken = f->set->speaks(f->set->context, event->pair);
    /* That a pair is unknown is told once. */
    if (spoken == f->codec || (!spoken && f->codec == f->set->codec[0])) {
        f->emit(f->context, event);
        f->count++;
    }
}

size_t codec_decode(const struct codec_set *set, const char *prefix,
                    const struct message *message, event_emit *emit, void *context)
{
    if (lab_line_is(prefix, message->topic)) {
        return lab_line_decode(prefix, message, emit, context);
    }
    if (set && set->count == 1) {
        return set->codec[0]->decode(prefix, message, emit, context);
    }
    if (set) {
        struct filter filter = {.set = set, .emit = emit, .context = context};
        for (size_t i = 0; i < set->count; i++) {
            filter.codec = set->codec[i];
            (void)filter.codec->decode(prefix, message, emit_filtered, &filter);
        }
        return filter.count;
    }
    size_t count = 0;
    for (size_t i = 0; count == 0 && i < codec_count; i++) {
        count = codecs[i]->decode(prefix, message, emit, context);
    }
    return count;
}
