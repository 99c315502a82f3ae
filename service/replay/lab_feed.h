/* service/replay/lab_feed.h - one message into the lab: the same step for the daemon and for
 * replay.
 */
#ifndef SERVICE_REPLAY_LAB_FEED_H
#define SERVICE_REPLAY_LAB_FEED_H

#include "logger/message/codec.h"
#include "twin/lab.h"

/* Decode the message for emit, which steps the lab; meanwhile the lab has the memory of its
 * pair fetched. Returns the number of events, 0 for a topic that is none of Tandem's. */
size_t lab_feed(const struct lab *lab, const struct codec *codec, const char *prefix,
                const struct message *message, codec_emit *emit, void *context);

#endif
