/* logger/message/codec_scan.h - the payloads of the native protocol, one function each.
 *
 * Each reads one JSON object into its part of the event, which is set anew, from "not told"
 * (docs/protocol.md). Members that are not of the protocol are checked and passed over. False
 * when the object is not what it shall be: the scanner then holds the place and what would be
 * right. Internal to the codec.
 */
#ifndef LOGGER_MESSAGE_CODEC_SCAN_H
#define LOGGER_MESSAGE_CODEC_SCAN_H

#include <stdbool.h>

#include "logger/message/event.h"
#include "logger/message/json_scan.h"

bool codec_scan_command(struct json_scan *s, struct event *e);
bool codec_scan_reply(struct json_scan *s, struct event *e);
bool codec_scan_telemetry(struct json_scan *s, struct event *e);
bool codec_scan_connection(struct json_scan *s, struct event *e);
bool codec_scan_ack(struct json_scan *s, struct event *e);
bool codec_scan_echo(struct json_scan *s, struct event *e);
bool codec_scan_request(struct json_scan *s, struct event *e); /* its pair, too */
bool codec_scan_fit(struct json_scan *s, struct event *e);     /* its pair and side, too */
bool codec_scan_away(struct json_scan *s, struct event *e);

#endif
