#include "web/resources/uploads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "web/http/routes.h"
#include "web/resources/handlers.h"
#include "web/resources/jobs.h"

/* A job takes seconds. */
enum { RETRY_S = 5 };

/* curl and browsers add "; charset=…". */
static bool is_media_type(const char *content_type, const char *wanted)
{
    const size_t n = strlen(wanted);
    return strncasecmp(content_type, wanted, n) == 0 && strchr(" \t;", content_type[n]);
}

static struct web_replay replay_of(const struct web_request *request)
{
    const struct query *query = &request->query;
    return (struct web_replay){.name = query->name[0] ? query->name : "upload",
                               .pair = query->pair};
}

static enum status check_query(const struct web_request *request, struct err *err)
{
    const struct web_source *source = request->context->source;
    if (request->route->handle == post_replay) {
        const struct web_replay what = replay_of(request);
        return source->check_replay(source->context, &what, err);
    }
    return source->check_identify(source->context, request->query_text, err);
}

static bool refuse_recording(const struct web_request *request, struct web_response *response)
{
    web_problem_later(request, response, PROBLEM_TOO_MANY_JOBS, RETRY_S,
                      "as many recordings as may be are here already (http.uploads_max); try "
                      "again when a job has ended");
    return false;
}

bool upload_admit(struct web_request *request, const char *content_type,
                  struct web_response *response)
{
    const struct web_source *source = request->context->source;
    struct err err = {0};
    if (content_type && !is_media_type(content_type, "text/csv") &&
        !is_media_type(content_type, "application/x-ndjson")) {
        web_problem(request, response, PROBLEM_MEDIA_TYPE_UNKNOWN, NULL,
                    "a table is needed, with 'Content-Type: text/csv', or a journal, with "
                    "'application/x-ndjson'");
        return false;
    }
    if (check_query(request, &err) != STATUS_OK) {
        web_problem_err(request, response, PROBLEM_BAD_PARAMETER, &err);
        return false;
    }
    request->upload->claimed = source->claim_upload(source->context);
    return request->upload->claimed || refuse_recording(request, response);
}

/* Is there a recording to hand over? */
static bool has_recording(const struct web_request *request, struct web_response *response)
{
    const struct body *body = &request->upload->body;
    if (body->failed) {
        web_problem_later(request, response, PROBLEM_NOT_READY, RETRY_S,
                          "no memory for this recording now");
        return false;
    }
    if (body->bytes == 0) {
        web_problem(request, response, PROBLEM_BAD_BODY, NULL,
                    "a table with a header line or a journal was expected, the body is empty");
        return false;
    }
    return true;
}

/* The job is the lab's, or it is not: path is where jobs of its kind are. */
static void answer_job(const struct web_request *request, struct web_response *response,
                       enum status st, uint64_t job, const struct err *err, const char *path)
{
    if (st == STATUS_E_ARG) {
        web_problem_err(request, response, PROBLEM_BAD_PARAMETER, err);
    } else if (st == STATUS_E_FULL) {
        (void)refuse_recording(request, response);
    } else if (st != STATUS_OK) {
        web_problem_later(request, response, PROBLEM_NOT_READY, RETRY_S,
                          err->text[0] ? err->text : status_name(st));
    } else {
        /* The recording is the job's. */
        *request->upload = (struct web_upload){.claimed = false};
        if (!jobs_write(request, response, job)) {
            web_problem(request, response, PROBLEM_INTERNAL, NULL, "the job is gone already");
            return;
        }
        response->status = 202;
        (void)snprintf(response->location, sizeof response->location, "%s/%" PRIu64, path, job);
    }
}

void post_identify(const struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    const struct body *body = &request->upload->body;
    struct err err = {0};
    uint64_t job = 0;
    if (has_recording(request, response)) {
        const enum status st = source->identify(source->context, request->query_text,
                                                body->text, body->bytes, &job, &err);
        answer_job(request, response, st, job, &err, "/api/v1/identify");
    }
}

void post_replay(const struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    const struct body *body = &request->upload->body;
    struct err err = {0};
    uint64_t job = 0;
    if (has_recording(request, response)) {
        const struct web_replay what = replay_of(request);
        const enum status st =
            source->replay(source->context, &what, body->text, body->bytes, &job, &err);
        answer_job(request, response, st, job, &err, "/api/v1/replay");
    }
}
