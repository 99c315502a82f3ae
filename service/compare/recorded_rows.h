/* service/compare/recorded_rows.h - the records of a pair, collected one after the other. */
#ifndef SERVICE_COMPARE_RECORDED_ROWS_H
#define SERVICE_COMPARE_RECORDED_ROWS_H

#include "service/compare/recording.h"

enum recorded_kind { RECORDED_COMMAND, RECORDED_ALARM, RECORDED_CHANGE, RECORDED_STATE };

struct recorded_row {
    enum recorded_kind kind;
    union {
        struct recorded_command command;
        struct recorded_alarm alarm;
        struct recorded_change change;
        struct recorded_state state;
    };
    char version[SIDE_COUNT][EVENT_VERSION_MAX]; /* of a command; documents only */
};

/* The bytes of a row of this kind. */
size_t recorded_row_bytes(enum recorded_kind kind);

/* STATUS_E_NOMEM. */
MUST_USE enum status recorded_pair_add(struct recorded_pair *pair,
                                       const struct recorded_row *row);

/* A document's pairs. Errors: STATUS_E_PARSE, STATUS_E_IO, STATUS_E_NOMEM. */
struct document;

MUST_USE enum status document_open(const char *path, struct document **out, struct err *err);
void document_close(struct document *document); /* NULL allowed */
size_t document_pair_count(const struct document *document);
const char *document_pair_id(const struct document *document, size_t i);
bool document_has_commands(const struct document *document, size_t i);
MUST_USE enum status document_load(const struct document *document, size_t i,
                                   struct recorded_pair *out, struct err *err);

#endif
