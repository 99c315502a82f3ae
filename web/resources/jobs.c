#include "web/resources/jobs.h"

#include <inttypes.h>
#include <stdio.h>

#include "web/resources/handlers.h"

static void write_error(struct json_writer *json, const struct err *err)
{
    if (!err) {
        json_write_null(json, "error");
        return;
    }
    json_write_object(json, "error");
    json_write_text(json, "where", err->where);
    if (err->line > 0) {
        json_write_int(json, "line", (int64_t)err->line);
    }
    if (err->column > 0) {
        json_write_int(json, "column", (int64_t)err->column);
    }
    json_write_text(json, "text", err->text);
    json_write_close(json);
}

/* All but the result; the object stays open. */
static void open_job(struct json_writer *json, const struct web_job *job)
{
    char id[24];
    (void)snprintf(id, sizeof id, "%" PRIu64, job->id);
    json_write_object(json, NULL);
    json_write_text(json, "id", id);
    json_write_text(json, "kind", job->kind);
    json_write_text(json, "model", job->model);
    json_write_text(json, "pair", job->pair[0] ? job->pair : NULL);
    json_write_text(json, "state", job->state);
    json_write_bool(json, "cancelling", job->cancelling);
    json_write_real(json, "progress", job->progress);
    json_write_text(json, "stage", job->stage[0] ? job->stage : NULL);
    json_write_seconds(json, "queued_t", job->queued_us);
    json_write_seconds(json, "began_t", job->began_us);
    json_write_seconds(json, "ended_t", job->ended_us);
    write_error(json, job->err);
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
    struct web_writer w;
    struct json_writer *json = web_write_start(&w, response);
    json_write_object(json, NULL);
    json_write_array(json, "jobs");
    source->list_jobs(source->context, show_in_list, json);
    json_write_close(json);
    json_write_close(json);
    web_write_end(&w);
}

/* A result is one document and a line break. */
static void show_whole(void *context, const struct web_job *job)
{
    struct web_response *response = context;
    struct web_writer w;
    struct json_writer *json = web_write_start(&w, response);
    size_t bytes = job->result ? job->result_bytes : 0;
    while (bytes > 0 && job->result[bytes - 1] == '\n') {
        bytes--;
    }
    open_job(json, job);
    if (bytes > 0) {
        json_write_raw(json, "result", job->result, bytes);
    } else {
        json_write_null(json, "result");
    }
    json_write_close(json);
    web_write_end(&w);
}

bool jobs_write(const struct web_request *request, struct web_response *response, uint64_t job)
{
    const struct web_source *source = request->context->source;
    return source->read_job(source->context, job, show_whole, response) == STATUS_OK;
}

static void refuse_unknown(const struct web_request *request, struct web_response *response)
{
    web_problem(request, response, PROBLEM_NO_SUCH_JOB, NULL,
                "there is no such job (any more); /api/v1/identify lists them");
}

void get_job(const struct web_request *request, struct web_response *response)
{
    if (!jobs_write(request, response, request->job)) {
        refuse_unknown(request, response);
        return;
    }
    web_tag(response);
}

/* A running job ends at its next step only. */
static void show_cancelled(void *context, const struct web_job *job)
{
    struct web_response *response = context;
    show_whole(response, job);
    response->status = job->cancelling ? 202 : 200;
}

void delete_job(const struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    const enum status st = source->cancel_job(source->context, request->job);
    if (st == STATUS_E_STALE) {
        web_problem(request, response, PROBLEM_JOB_ENDED, NULL,
                    "it has ended already, there is nothing to cancel");
    } else if (st != STATUS_OK || source->read_job(source->context, request->job,
                                                   show_cancelled, response) != STATUS_OK) {
        refuse_unknown(request, response);
    }
}
