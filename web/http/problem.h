/* web/http/problem.h - errors as RFC 9457 problem documents (application/problem+json).
 *
 *     {"type":"/problems/bad-parameter","title":"Bad parameter","status":400,
 *      "detail":"limit: must be a whole number from 1 to 1000",
 *      "instance":"/api/v1/pairs","parameter":"limit"}
 *
 * The types are listed in docs/http.md. Pure.
 */
#ifndef WEB_HTTP_PROBLEM_H
#define WEB_HTTP_PROBLEM_H

#include "logger/message/json_write.h"

enum problem_kind {
    PROBLEM_BAD_URL,
    PROBLEM_BAD_PARAMETER,
    PROBLEM_BAD_BODY,
    PROBLEM_UNAUTHORIZED,
    PROBLEM_WRITING_OFF,
    PROBLEM_NOT_FOUND,
    PROBLEM_NO_SUCH_PAIR,
    PROBLEM_NO_SUCH_JOB,
    PROBLEM_NO_DYNAMICS,
    PROBLEM_NO_FOLLOWING,
    PROBLEM_WRONG_METHOD,
    PROBLEM_JOB_ENDED,
    PROBLEM_NO_FIT,
    PROBLEM_BODY_TOO_LARGE,
    PROBLEM_URL_TOO_LONG,
    PROBLEM_MEDIA_TYPE_UNKNOWN,
    PROBLEM_WRONG_HOST,
    PROBLEM_TOO_MANY_REQUESTS,
    PROBLEM_TOO_MANY_CONNECTIONS,
    PROBLEM_TOO_MANY_COMMANDS,
    PROBLEM_TOO_MANY_JOBS,
    PROBLEM_INTERNAL,
    PROBLEM_NOT_READY,
    PROBLEM_NO_STORE,
    PROBLEM_NO_BROKER,
    PROBLEM_TOO_MANY_LISTENERS,
    PROBLEM_KIND_COUNT
};

#define PROBLEM_MEDIA_TYPE "application/problem+json"

/* The HTTP status of a kind. */
unsigned problem_status(enum problem_kind kind);
/* The last part of its type: "bad-parameter". */
const char *problem_slug(enum problem_kind kind);

/* Write the document's object and leave it open for members of the kind; close it with
 * json_write_close(). instance: the path of the request as it came, printable ASCII; "" when
 * there is none. */
void problem_open(struct json_writer *w, enum problem_kind kind, const char *instance,
                  const char *detail);

#endif
