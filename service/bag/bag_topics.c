#include "service/bag/bag_topics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"

struct bag_topic *bag_topics_find(const struct bag_topics *topics, const char *name)
{
    for (size_t i = 0; i < topics->count; i++) {
        if (strcmp(topics->topic[i]->name, name) == 0) {
            return topics->topic[i];
        }
    }
    return NULL;
}

const char *bag_topic_type(const struct bag_topic *topic)
{
    const char *slash = strrchr(topic->type, '/');
    return slash ? slash + 1 : topic->type;
}

static bool ignore_value(void *context, const struct ros_value *value)
{
    (void)context;
    (void)value;
    return true;
}

/* Resolves the definition, and decodes the first message with it. */
static enum status resolve_topic(struct bag_topic *t, const struct bag_message *m)
{
    struct err err = {0};
    const bool known =
        m->definition_kind[0] == '\0' || strcmp(m->definition_kind, "ros2msg") == 0;
    if (!known || strcmp(m->encoding, "cdr") != 0) {
        (void)snprintf(t->fault, sizeof t->fault,
                       "%.40s defined by %.40s: CDR and ros2msg are read", m->encoding,
                       m->definition_kind);
        return STATUS_OK;
    }
    t->text = malloc(m->definition_bytes + 1);
    t->definition = malloc(sizeof *t->definition);
    if (!t->text || !t->definition) {
        return STATUS_E_NOMEM;
    }
    memcpy(t->text, m->definition, m->definition_bytes);
    enum status status =
        ros_definition_parse(t->type, t->text, m->definition_bytes, t->definition, &err);
    if (status == STATUS_OK) {
        status = ros_message_decode(t->definition, m->data, m->bytes, ignore_value, NULL, &err);
    }
    if (status != STATUS_OK) {
        (void)snprintf(t->fault, sizeof t->fault, "%s", err.text);
        free(t->definition);
        t->definition = NULL;
        return STATUS_OK;
    }
    t->has_stamp = ros_path_find(t->definition, "header.stamp.sec", &t->sec) &&
                   ros_path_find(t->definition, "header.stamp.nanosec", &t->nanosec);
    return STATUS_OK;
}

static enum status add_topic(struct bag_topics *topics, const char *path,
                             const struct bag_message *m, struct bag_topic **out,
                             struct err *err)
{
    if (topics->count == BAG_TOPICS_MAX) {
        return err_set(err, STATUS_E_FULL, FAULT_TOO_MANY, path, "more than %d topics",
                       BAG_TOPICS_MAX);
    }
    if (strlen(m->topic) >= BAG_NAME_MAX || strlen(m->type) >= BAG_NAME_MAX) {
        return err_set(err, STATUS_E_PARSE, FAULT_TOO_LONG, path,
                       "a topic or type of more than %d bytes", BAG_NAME_MAX - 1);
    }
    struct bag_topic *t = calloc(1, sizeof *t);
    if (!t) {
        return err_no_memory(err, path, "no memory");
    }
    topics->topic[topics->count++] = t;
    (void)snprintf(t->name, sizeof t->name, "%s", m->topic);
    (void)snprintf(t->type, sizeof t->type, "%s", m->type);
    t->first_ns = t->last_ns = m->log_ns;
    *out = t;
    return resolve_topic(t, m) == STATUS_OK ? STATUS_OK : err_no_memory(err, path, "no memory");
}

static enum status count_message(struct bag_topics *topics, const char *path,
                                 const struct bag_message *m, struct err *err)
{
    struct bag_topic *t = bag_topics_find(topics, m->topic);
    const enum status status = t ? STATUS_OK : add_topic(topics, path, m, &t, err);
    if (status == STATUS_OK) {
        t->count++;
        t->first_ns = m->log_ns < t->first_ns ? m->log_ns : t->first_ns;
        t->last_ns = m->log_ns > t->last_ns ? m->log_ns : t->last_ns;
    }
    return status;
}

enum status bag_topics_read(const char *path, struct bag_topics *out, struct err *err)
{
    struct bag_reader *reader = NULL;
    struct bag_message m;
    *out = (struct bag_topics){.count = 0};
    enum status status = bag_reader_open(path, &reader, err);
    while (status == STATUS_OK) {
        status = bag_reader_next(reader, &m, err);
        status = status == STATUS_OK ? count_message(out, path, &m, err) : status;
    }
    out->torn = reader && bag_reader_is_torn(reader);
    bag_reader_close(reader);
    return status == STATUS_E_EMPTY ? STATUS_OK : status;
}

void bag_topics_free(struct bag_topics *topics)
{
    for (size_t i = 0; i < topics->count; i++) {
        free(topics->topic[i]->text);
        free(topics->topic[i]->definition);
        free(topics->topic[i]);
    }
    topics->count = 0;
}

void bag_topics_print(const struct bag_topics *topics, FILE *out)
{
    for (size_t i = 0; i < topics->count; i++) {
        const struct bag_topic *t = topics->topic[i];
        const double span_s = (double)(t->last_ns - t->first_ns) * 1e-9;
        char name[BAG_NAME_MAX];
        char type[BAG_NAME_MAX];
        (void)snprintf(name, sizeof name, "%s", t->name);
        (void)snprintf(type, sizeof type, "%s", t->type);
        (void)fprintf(out, "%-28s %-32s %8" PRIu64, utf8_tame(name), utf8_tame(type), t->count);
        if (span_s > 0.0) {
            (void)fprintf(out, " %8.4g Hz", (double)(t->count - 1) / span_s);
        } else {
            (void)fprintf(out, " %11s", "");
        }
        (void)fprintf(out, "  %s\n", t->definition ? "decodable" : t->fault);
    }
    if (topics->torn) {
        (void)fputs("torn: the end of the file is missing\n", out);
    }
}
