#include "web/http/problem.h"

#include <assert.h>
#include <stdio.h>

static const struct {
    unsigned status;
    const char *slug, *title;
} KINDS[PROBLEM_KIND_COUNT] = {
    [PROBLEM_BAD_URL] = {400, "bad-url", "Bad URL"},
    [PROBLEM_BAD_PARAMETER] = {400, "bad-parameter", "Bad parameter"},
    [PROBLEM_BAD_BODY] = {400, "bad-body", "Bad body"},
    [PROBLEM_UNAUTHORIZED] = {401, "unauthorized", "Token needed"},
    [PROBLEM_WRITING_OFF] = {403, "writing-off", "Writing is switched off"},
    [PROBLEM_NOT_FOUND] = {404, "not-found", "No such resource"},
    [PROBLEM_NO_SUCH_PAIR] = {404, "no-such-pair", "No such pair"},
    [PROBLEM_NO_SUCH_JOB] = {404, "no-such-job", "No such job"},
    [PROBLEM_NO_DYNAMICS] = {404, "no-dynamics", "Dynamics not followed"},
    [PROBLEM_NO_FOLLOWING] = {404, "no-following", "Nobody follows"},
    [PROBLEM_WRONG_METHOD] = {405, "wrong-method", "Method not allowed"},
    [PROBLEM_JOB_ENDED] = {409, "job-ended", "The job has ended"},
    [PROBLEM_NO_FIT] = {409, "no-fit", "No fit can begin now"},
    [PROBLEM_BODY_TOO_LARGE] = {413, "body-too-large", "Body too large"},
    [PROBLEM_URL_TOO_LONG] = {414, "url-too-long", "URL too long"},
    [PROBLEM_MEDIA_TYPE_UNKNOWN] = {415, "media-type", "Media type not taken"},
    [PROBLEM_WRONG_HOST] = {421, "wrong-host", "Not a name of this server"},
    [PROBLEM_TOO_MANY_REQUESTS] = {429, "too-many-requests", "Too many requests"},
    [PROBLEM_TOO_MANY_CONNECTIONS] = {429, "too-many-connections", "Too many connections"},
    [PROBLEM_TOO_MANY_COMMANDS] = {429, "too-many-commands", "Too many commands"},
    [PROBLEM_TOO_MANY_JOBS] = {429, "too-many-jobs", "Too many jobs"},
    [PROBLEM_INTERNAL] = {500, "internal", "Internal error"},
    [PROBLEM_NOT_READY] = {503, "not-ready", "Not ready"},
    [PROBLEM_NO_STORE] = {503, "no-store", "Store not readable"},
    [PROBLEM_TOO_MANY_LISTENERS] = {503, "too-many-listeners", "Too many listeners"},
    [PROBLEM_NO_BROKER] = {503, "no-broker", "Broker not reachable"},
};

unsigned problem_status(enum problem_kind kind)
{
    assert((unsigned)kind < PROBLEM_KIND_COUNT);
    return KINDS[kind].status;
}

const char *problem_slug(enum problem_kind kind)
{
    assert((unsigned)kind < PROBLEM_KIND_COUNT);
    return KINDS[kind].slug;
}

void problem_open(struct json_writer *w, enum problem_kind kind, const char *instance,
                  const char *detail)
{
    char type[64];
    (void)snprintf(type, sizeof type, "/problems/%s", problem_slug(kind));
    json_write_object(w, NULL);
    json_write_text(w, "type", type);
    json_write_text(w, "title", KINDS[kind].title);
    json_write_int(w, "status", (int64_t)problem_status(kind));
    json_write_text(w, "detail", detail);
    if (instance[0]) {
        json_write_text(w, "instance", instance);
    }
}
