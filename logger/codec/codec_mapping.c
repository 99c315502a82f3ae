/* logger/codec/codec_mapping.c - the codec of robots that a table of the lab file describes
 * (mapping.h).
 *
 * Its state is where the robots were last, for moves to a target. Messages that its table does
 * not describe are native.
 */
#include <stdio.h>
#include <string.h>

#include "logger/codec/codecs.h"
#include "logger/codec/mapping.h"
#include "logger/message/codec_native.h"

static bool receive_mapping(const struct codec_pair *pair, const struct message *message,
                            const struct codec_sink *sink)
{
    const struct mapping_receiver to = {
        .pair = pair->id, .republished = pair->repeated, .poses = pair->state};
    return pair->options->mapping &&
           mapping_decode(pair->options->mapping, &to, message, sink->emit, sink->context) ==
               MAPPING_DECODED;
}

static bool encode_mapping(const struct codec_out *out, struct codec_message *message)
{
    const struct mapping *mapping = out->to->options->mapping;
    const enum mapping_outcome outcome =
        mapping ? mapping_encode(mapping, out, message) : MAPPING_NOBODY;
    message->whole = outcome == MAPPING_DECODED;
    return outcome == MAPPING_NOBODY ? codec_native.encode(out, message)
                                     : outcome == MAPPING_DECODED;
}

static bool is_mapped_sample(const struct codec_options *options, const char *topic)
{
    return options->mapping && mapping_is_sample(options->mapping, topic);
}

/* Topics: this pair's rows, then the outgoing messages to each side. Commands are written by
 * L1. */
static bool place_mapping(const struct codec_options *options, size_t k,
                          struct codec_place *place)
{
    const struct mapping *mapping = options->mapping;
    size_t n = 0;
    for (size_t i = 0; mapping && i < mapping->row_count; i++) {
        const struct mapping_row *row = &mapping->rows[i];
        if ((!row->pair || strcmp(row->pair, options->pair) == 0) && n++ == k) {
            *place = (struct codec_place){.qos = row->kind != EVENT_TELEMETRY,
                                          .side = row->side,
                                          .from_robot = row->kind != EVENT_COMMAND};
            mapping_row_filter(row, options->pair, place->filter);
            return true;
        }
    }
    for (size_t i = 0; mapping && i < mapping->send_count; i++) {
        const struct mapping_send *send = &mapping->sends[i];
        for (int side = 0; side < SIDE_COUNT; side++) {
            if (send->side != SIDE_COUNT && send->side != (enum side)side) {
                continue;
            }
            if (n++ == k) {
                *place =
                    (struct codec_place){.qos = 1, .side = (enum side)side, .silent = true};
                mapping_send_filter(send, options->pair, place->side, place->filter);
                return true;
            }
        }
    }
    return false;
}

static const char *check_mapping(const struct codec_options *options, const char **key)
{
    *key = "mapping";
    return options->mapping ? NULL
                            : "rows are wanted, or the path of a file with them "
                              "(docs/robots/mapping.md)";
}

const struct codec codec_mapping = {
    .name = "mapping",
    .help = "any JSON, CSV or positional text, by a table (docs/robots/mapping.md)",
    .receive = receive_mapping,
    .state_bytes = SIDE_COUNT * sizeof(struct mapping_pose),
    .fallback = &codec_native,
    .place = place_mapping,
    .streams = is_mapped_sample,
    .check = check_mapping,
    .encode = encode_mapping,
};
