#include "web/resource/jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "web/http/routes.h"
#include "web/resource/handlers.h"

/* Writes all members except the result, and leaves the object open. */
static void open_job(struct json_writer *json, const struct web_job *job)
{
    const struct err *const err = job->err;
    char id[24];
    (void)snprintf(id, sizeof id, "%" PRIu64, job->id);
    JSON_OPEN(json, NULL, JSON("id", id), JSON("kind", job->kind), JSON("model", job->model),
              JSON("pair", job->pair[0] ? job->pair : NULL),
              JSON_IF(job->file && job->file[0], JSON("file", job->file)),
              JSON("state", job->state), JSON("cancelling", job->cancelling),
              JSON("progress", job->progress), JSON("stage", job->stage[0] ? job->stage : NULL),
              JSON_SECONDS("queued_t", job->queued_us), JSON_SECONDS("began_t", job->began_us),
              JSON_SECONDS("ended_t", job->ended_us),
              JSON_KNOWN("error", err, JSON("code", fault_name(err->fault)),
                         JSON("where", err->where),
                         JSON_IF(err->line > 0, JSON("line", err->line)),
                         JSON_IF(err->column > 0, JSON("column", err->column)),
                         JSON("text", err->text)));
}

static void show_in_list(void *context, const struct web_job *job)
{
    struct json_writer *json = context;
    open_job(json, job);
    json_write_close(json);
}

void get_jobs(const struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    struct json_writer *json = web_json(response);
    json_write_object(json, NULL);
    json_write_array(json, "jobs");
    source->list_jobs(source->jobs, show_in_list, json);
    json_write_close(json);
    json_write_close(json);
}

/* A result is one document and a line break. */
static void show_whole(void *context, const struct web_job *job)
{
    struct web_response *response = context;
    struct json_writer *json = web_json(response);
    size_t bytes = job->result ? job->result_bytes : 0;
    while (bytes > 0 && job->result[bytes - 1] == '\n') {
        bytes--;
    }
    open_job(json, job);
    json_write_raw(json, "result", job->result, bytes);
    json_write_close(json);
}

static bool write_job(const struct web_request *request, struct web_response *response,
                      uint64_t job)
{
    const struct web_source *source = request->context->source;
    return source->read_job(source->jobs, job, show_whole, response) == STATUS_OK;
}

bool jobs_answer_new(const struct web_request *request, struct web_response *response,
                     uint64_t job, const char *path)
{
    if (!write_job(request, response, job)) {
        return false;
    }
    response->status = 202;
    (void)snprintf(response->location, sizeof response->location, "%s/%" PRIu64, path, job);
    return true;
}

static void refuse_unknown(const struct web_request *request, struct web_response *response)
{
    web_problem(request, response, PROBLEM_NO_SUCH_JOB, NULL,
                "there is no such job (any more); /api/v1/identify lists them");
}

void get_job(const struct web_request *request, struct web_response *response)
{
    response->tagged = true;
    if (!write_job(request, response, request->job)) {
        refuse_unknown(request, response);
    }
}

/* A running job ends only at its next step. */
static void show_cancelled(void *context, const struct web_job *job)
{
    struct web_response *response = context;
    show_whole(response, job);
    response->status = job->cancelling ? 202 : 200;
}

void delete_job(const struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    const enum status st = source->cancel_job(source->jobs, request->job);
    if (st == STATUS_E_STALE) {
        web_problem(request, response, PROBLEM_JOB_ENDED, NULL,
                    "it has ended already, there is nothing to cancel");
    } else if (st != STATUS_OK || source->read_job(source->jobs, request->job, show_cancelled,
                                                   response) != STATUS_OK) {
        refuse_unknown(request, response);
    }
}

/* ---- uploads: recordings, and files with teams --------------------------------------- */

/* A job takes seconds. */
enum { RETRY_S = 5 };

/* curl and browsers add "; charset=…". */
static bool is_media_type(const char *content_type, const char *wanted)
{
    const size_t n = strlen(wanted);
    return strncasecmp(content_type, wanted, n) == 0 && strchr(" \t;", content_type[n]);
}

static bool is_about(const struct web_request *request, const char *what)
{
    return strcmp(route_last_word(request->route), what) == 0;
}

static struct web_replay replay_of(const struct web_request *request)
{
    const struct query *query = &request->query;
    return (struct web_replay){.name = query->name[0] ? query->name : "upload",
                               .pair = query->pair,
                               .refit = query->refit};
}

static bool refuse_recording(const struct web_request *request, struct web_response *response)
{
    return web_problem_later(
        request, response, PROBLEM_TOO_MANY_JOBS, RETRY_S, NULL,
        "as many recordings as may be are here already (http.uploads_max); try "
        "again when a job has ended");
}

static bool is_media_type_known(const struct web_request *request, const char *content_type)
{
    static const char *const recordings[] = {"text/csv", "application/jsonl"};
    static const char *const teams[] = {"application/yaml", "text/yaml"}; /* RFC 9512 */
    const char *const *known = is_about(request, "simulate") ? teams : recordings;
    return !content_type || is_media_type(content_type, known[0]) ||
           is_media_type(content_type, known[1]);
}

static enum status check_upload(const struct web_request *request, struct err *err)
{
    const struct web_source *source = request->context->source;
    const struct web_replay replay = replay_of(request);
    return is_about(request, "replay") ? source->check_replay(source->jobs, &replay, err)
           : is_about(request, "simulate")
               ? source->check_simulate(source->jobs, request->query_text, err)
               : source->check_identify(source->jobs, request->query_text, err);
}

static void store_ended(void *context, const struct web_job *job)
{
    *(bool *)context = job->ended_us != LAB_TIME_NONE;
}

/* Without the token one table at a time is looked at: from its first byte to the end of its
 * job. */
static bool admit_look(const struct web_request *request, const char *content_type,
                       struct web_response *response)
{
    struct web_context *context = request->context;
    const struct web_source *source = context->source;
    bool ended = true;
    if (!content_type || !is_media_type(content_type, "text/csv")) {
        return web_problem(request, response, PROBLEM_UNAUTHORIZED, NULL,
                           "without a header 'Authorization: Bearer TOKEN' only a table is "
                           "looked at, with 'Content-Type: text/csv'");
    }
    request->upload->look = !atomic_exchange(&context->look_arrives, true);
    const uint64_t last = request->upload->look ? atomic_load(&context->look_job) : 0;
    if (last > 0 && source->read_job(source->jobs, last, store_ended, &ended) != STATUS_OK) {
        ended = true; /* it is forgotten */
    }
    return (request->upload->look && ended) ||
           web_problem_later(request, response, PROBLEM_TOO_MANY_JOBS, RETRY_S, NULL,
                             "without the token one table at a time is looked at; try again "
                             "when that job has ended, or send the token");
}

bool upload_admit(struct web_request *request, const char *content_type,
                  struct web_response *response)
{
    const struct web_source *source = request->context->source;
    struct err err = {0};
    if (!is_media_type_known(request, content_type)) {
        return web_problem(
            request, response, PROBLEM_MEDIA_TYPE_UNKNOWN, NULL,
            is_about(request, "simulate")
                ? "a team is needed, with 'Content-Type: application/yaml'"
                : "a table is needed, with 'Content-Type: text/csv', or a journal, with "
                  "'application/jsonl'");
    }
    if (check_upload(request, &err) != STATUS_OK) {
        return web_problem_err(request, response, PROBLEM_BAD_PARAMETER, &err);
    }
    if (request->looks && !admit_look(request, content_type, response)) {
        return false;
    }
    request->upload->claimed = source->claim_upload(source->jobs);
    return request->upload->claimed || refuse_recording(request, response);
}

/* Hands over the recording; the job owns it on STATUS_OK. */
static enum status start_job(const struct web_request *request, uint64_t *job, struct err *err)
{
    const struct web_source *source = request->context->source;
    const struct body *body = &request->upload->body;
    const struct web_replay replay = replay_of(request);
    if (is_about(request, "replay")) {
        return source->replay(source->jobs, &replay, body->text, body->bytes, job, err);
    }
    return (is_about(request, "simulate") ? source->simulate : source->identify)(
        source->jobs, request->query_text, body->text, body->bytes, job, err);
}

void post_recording(const struct web_request *request, struct web_response *response)
{
    const struct body *body = &request->upload->body;
    struct err err = {0};
    uint64_t job = 0;
    if (!body->failed && body->bytes == 0) {
        web_problem(request, response, PROBLEM_BAD_BODY, NULL,
                    is_about(request, "simulate")
                        ? "a file with a team was expected, the body is empty"
                        : "a table with a header line or a journal was expected, the body is "
                          "empty");
        return;
    }
    const enum status st = body->failed
                               ? err_no_memory(&err, "body", "no memory for this recording now")
                               : start_job(request, &job, &err);
    if (st == STATUS_E_ARG) {
        web_problem_err(request, response, PROBLEM_BAD_PARAMETER, &err);
    } else if (st == STATUS_E_FULL) {
        (void)refuse_recording(request, response);
    } else if (st != STATUS_OK) {
        web_problem_later(request, response, PROBLEM_NOT_READY, RETRY_S, &err, status_name(st));
    } else {
        if (request->upload->look) {
            atomic_store(&request->context->look_job, job);
            atomic_store(&request->context->look_arrives, false);
        }
        *request->upload = (struct web_upload){.claimed = false};
        /* Jobs of teams have the same path as all jobs. */
        const char *path =
            is_about(request, "simulate") ? "/api/v1/identify" : request->route->path;
        if (!jobs_answer_new(request, response, job, path)) {
            web_problem(request, response, PROBLEM_INTERNAL, NULL, "the job is gone already");
        }
    }
}
