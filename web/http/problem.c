#include "web/http/problem.h"

#include <assert.h>
#include <stdio.h>

#define PROBLEM_ROW(kind, status, slug, title) [kind] = {status, slug, title},
static const struct {
    unsigned status;
    const char *slug, *title;
} KINDS[] = {PROBLEMS(PROBLEM_ROW)};

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
