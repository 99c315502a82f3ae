/* web/http/problem.h - errors as RFC 9457 problem documents (application/problem+json).
 *
 *     {"type":"/problems/bad-parameter","title":"Bad parameter","status":400,
 *      "code":"out_of_range","detail":"limit: must be a whole number from 1 to 1000",
 *      "instance":"/api/v1/pairs","parameter":"limit"}
 *
 * The types are listed in docs/http.md. Pure.
 */
#ifndef WEB_HTTP_PROBLEM_H
#define WEB_HTTP_PROBLEM_H

#include "base/errors/err.h"
#include "logger/message/json_write.h"

/* X(kind, HTTP status, the last part of its type, title) */
/* clang-format off */
#define PROBLEMS(X)                                                                            \
    X(PROBLEM_BAD_URL, 400, "bad-url", "Bad URL")                                              \
    X(PROBLEM_BAD_HEAD, 400, "bad-head", "Bad head")                                           \
    X(PROBLEM_BAD_PARAMETER, 400, "bad-parameter", "Bad parameter")                            \
    X(PROBLEM_BAD_BODY, 400, "bad-body", "Input not accepted")                                           \
    X(PROBLEM_UNAUTHORIZED, 401, "unauthorized", "Token needed")                               \
    X(PROBLEM_WRITING_OFF, 403, "writing-off", "Writing is switched off")                      \
    X(PROBLEM_NOT_FOUND, 404, "not-found", "No such resource")                                 \
    X(PROBLEM_NO_SUCH_PAIR, 404, "no-such-pair", "No such pair")                               \
    X(PROBLEM_NO_SUCH_JOB, 404, "no-such-job", "No such job")                                  \
    X(PROBLEM_NO_SUCH_CAPTURE, 404, "no-such-capture", "No such capture")                      \
    X(PROBLEM_NO_SUCH_TEAM, 404, "no-such-team", "No such team")                               \
    X(PROBLEM_NO_SUCH_MISSION, 404, "no-such-mission", "No such mission")                      \
    X(PROBLEM_NO_MISSIONS, 404, "no-missions", "Missions not taken")                           \
    X(PROBLEM_NO_MAP, 404, "no-map", "No map is made")                                         \
    X(PROBLEM_NO_DYNAMICS, 404, "no-dynamics", "Dynamics not followed")                        \
    X(PROBLEM_NO_FOLLOWING, 404, "no-following", "Not following")                             \
    X(PROBLEM_WRONG_METHOD, 405, "wrong-method", "Method not allowed")                         \
    X(PROBLEM_JOB_ENDED, 409, "job-ended", "The job has ended")                                \
    X(PROBLEM_NO_FIT, 409, "no-fit", "No fit can begin now")                                   \
    X(PROBLEM_NO_PROMOTION, 409, "no-promotion", "This set is not promoted without a word")    \
    X(PROBLEM_STALE_FENCE, 409, "stale-fence", "Held under another fence, or not held")       \
    X(PROBLEM_TEAM_REFUSES, 409, "team-refuses", "The team cannot do this now")                \
    X(PROBLEM_MISSION_REFUSED, 409, "mission-refused", "The mission is refused")               \
    X(PROBLEM_BODY_TOO_LARGE, 413, "body-too-large", "Body too large")                         \
    X(PROBLEM_URL_TOO_LONG, 414, "url-too-long", "URL too long")                               \
    X(PROBLEM_MEDIA_TYPE_UNKNOWN, 415, "media-type", "Media type not accepted")                \
    X(PROBLEM_WRONG_HOST, 421, "wrong-host", "Not a name of this server")                      \
    X(PROBLEM_TOO_MANY_REQUESTS, 429, "too-many-requests", "Too many requests")                \
    X(PROBLEM_TOO_MANY_CONNECTIONS, 429, "too-many-connections", "Too many connections")       \
    X(PROBLEM_TOO_MANY_TOKENS, 429, "too-many-tokens", "Too many wrong tokens")                \
    X(PROBLEM_TOO_MANY_COMMANDS, 429, "too-many-commands", "Too many commands")                \
    X(PROBLEM_TOO_MANY_JOBS, 429, "too-many-jobs", "Too many jobs")                            \
    X(PROBLEM_INTERNAL, 500, "internal", "Internal error")                                     \
    X(PROBLEM_NOT_READY, 503, "not-ready", "Not ready")                                        \
    X(PROBLEM_NO_STORE, 503, "no-store", "Store not readable")                                 \
    X(PROBLEM_TOO_MANY_LISTENERS, 503, "too-many-listeners", "Too many listeners")             \
    X(PROBLEM_NO_BROKER, 503, "no-broker", "Broker not reachable")
/* clang-format on */

#define PROBLEM_KIND(kind, status, slug, title) kind,
enum problem_kind { PROBLEMS(PROBLEM_KIND) PROBLEM_KIND_COUNT };

#define PROBLEM_MEDIA_TYPE "application/problem+json"

/* The HTTP status of a kind. */
unsigned problem_status(enum problem_kind kind);
/* The last part of its type: "bad-parameter". */
const char *problem_slug(enum problem_kind kind);

/* Write the document's object and leave it open for members of the kind; close it with
 * json_write_close(). instance: the path as received, printable ASCII; "" without one.
 * FAULT_NONE: the code follows from the kind. */
void problem_open(struct json_writer *w, enum problem_kind kind, enum fault fault,
                  const char *instance, const char *detail);

#endif
