#include "service/jobs/uploads.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct uploads {
    struct worker *worker;
    unsigned uploads_max;
    atomic_uint held;
};

/* One recording, and what is to be done with it: the context of its job. */
struct upload {
    struct uploads *uploads;
    struct upload_work work;
    char *text;
};

/* ---- the job ---- */

static enum status run_upload(struct job *job, void *context, struct err *err)
{
    struct upload *upload = context;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) {
        return err_set(err, STATUS_E_NOMEM, "upload", 0, 0, "no memory for the result");
    }
    enum status st = upload->work.run(job, upload->work.context, out, err);
    if (fclose(out) != 0 && st == STATUS_OK) {
        st = err_set(err, STATUS_E_NOMEM, "upload", 0, 0, "no memory for the result");
    }
    if (st == STATUS_OK) {
        st = job_result(job, text, bytes);
    }
    free(text);
    return st;
}

static void release_upload(void *context)
{
    struct upload *upload = context;
    uploads_release(upload->uploads);
    free(upload->work.context);
    free(upload->text);
    free(upload);
}

/* ---- for the server ---- */

enum status uploads_create(struct worker *worker, unsigned uploads_max, struct uploads **out)
{
    struct uploads *uploads = calloc(1, sizeof *uploads);
    if (!uploads) {
        return STATUS_E_NOMEM;
    }
    uploads->worker = worker;
    uploads->uploads_max = uploads_max;
    *out = uploads;
    return STATUS_OK;
}

void uploads_destroy(struct uploads *uploads)
{
    free(uploads);
}

bool uploads_claim(struct uploads *uploads)
{
    unsigned held = atomic_load(&uploads->held);
    while (held < uploads->uploads_max) {
        if (atomic_compare_exchange_weak(&uploads->held, &held, held + 1)) {
            return true;
        }
    }
    return false;
}

void uploads_release(struct uploads *uploads)
{
    atomic_fetch_sub(&uploads->held, 1);
}

unsigned uploads_held(struct uploads *uploads)
{
    return atomic_load(&uploads->held);
}

/* The text is freed with its job. NOLINTNEXTLINE(readability-non-const-parameter) */
enum status uploads_submit(struct uploads *uploads, const struct upload_work *work, char *text,
                           uint64_t *job, struct err *err)
{
    struct upload *upload = calloc(1, sizeof *upload);
    if (!upload) {
        return err_set(err, STATUS_E_NOMEM, "upload", 0, 0, "no memory");
    }
    *upload = (struct upload){.uploads = uploads, .work = *work, .text = text};
    struct job_order order = {
        .class = JOB_UPLOAD, .run = run_upload, .release = release_upload, .context = upload};
    memcpy(order.what, work->what, sizeof order.what);
    memcpy(order.pair, work->pair, sizeof order.pair);
    const enum status st = worker_submit(uploads->worker, &order, job);
    if (st != STATUS_OK) {
        free(upload);
        return err_set(err, st, "upload", 0, 0, "%s",
                       st == STATUS_E_FULL ? "too many jobs wait" : "starting or stopping");
    }
    return STATUS_OK;
}
