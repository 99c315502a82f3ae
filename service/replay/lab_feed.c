#include "service/replay/lab_feed.h"

size_t lab_feed(const struct lab *lab, const struct codec *codec, const char *prefix,
                const struct message *message, codec_emit *emit, void *context)
{
    struct codec_subject subject;
    if (codec->look(prefix, message->topic, &subject)) {
        lab_expect(lab, subject.pair, subject.kind, subject.side);
    }
    return codec->decode(prefix, message, emit, context);
}
