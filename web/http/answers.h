/* web/http/answers.h - answers that stand ready to be sent, by what was asked.
 *
 * An answer is kept with the versions of what it rests on (web/http/grounds.h); whoever finds
 * it compares them with those of now. The table holds the ANSWERS_MAX that were asked for last,
 * of ANSWERS_BYTES_MAX altogether; an answer that was found lives until it is released, even
 * when the table has dropped it. Any thread; the lock is held for looking up only.
 */
#ifndef WEB_HTTP_ANSWERS_H
#define WEB_HTTP_ANSWERS_H

#include "web/http/handler.h"

enum { ANSWERS_MAX = 1024, ANSWERS_BYTES_MAX = 32 << 20, ANSWER_BYTES_MAX = 1 << 20 };

struct MHD_Response;
struct answers;

/* What decides about an answer, besides what it rests on. */
struct answer_name {
    const char *url; /* path and query as they came */
    bool csv, gzip;  /* of the headers */
};

/* Not changed any more once it is in the table. */
struct answer {
    const struct web_route *route;
    size_t pair;
    struct grounds grounds;
    size_t bytes; /* of its body; <= ANSWER_BYTES_MAX */
    char etag[WEB_ETAG_MAX];
    struct MHD_Response *message;   /* 200; owned */
    struct MHD_Response *unchanged; /* 304; owned. NULL: it has no tag */
    /* the table's */
    atomic_uint holders;
    uint64_t hash;
    struct answer *next; /* of the same hash */
    struct answer *newer, *older;
    bool csv, gzip;
    char url[];
};

MUST_USE enum status answers_create(struct answers **out); /* STATUS_E_NOMEM */
void answers_destroy(struct answers *answers);             /* NULL allowed */

/* An empty one of this name, held by the caller; NULL: no memory. */
struct answer *answer_create(const struct answer_name *name);
void answer_release(struct answer *answer); /* NULL allowed */

/* The one kept under this name, held; NULL: none. */
struct answer *answers_find(struct answers *answers, const struct answer_name *name);

/* Keep it, in the place of one of the same name. The caller still holds it. */
void answers_keep(struct answers *answers, struct answer *answer);

#endif
