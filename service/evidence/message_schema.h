/* service/evidence/message_schema.h - the JSON Schemas of messages, compiled in at build time
 * from docs/protocol without references between them. */
#ifndef SERVICE_EVIDENCE_MESSAGE_SCHEMA_H
#define SERVICE_EVIDENCE_MESSAGE_SCHEMA_H

#include <stddef.h>

#define MESSAGE_SCHEMAS(X)                                                                     \
    X(command) X(reply) X(telemetry) X(connection) X(echo) X(ack) X(pose_ack) X(entry) X(alarm)

#define MESSAGE_SCHEMA_TEXT(name)                                                              \
    extern const unsigned char schema_##name[];                                                \
    extern const size_t schema_##name##_bytes;
MESSAGE_SCHEMAS(MESSAGE_SCHEMA_TEXT)

#endif
