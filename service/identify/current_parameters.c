#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/number.h"
#include "service/identify/identify_dynamics.h"

enum { DELAY = -1, UNKNOWN = -2, NAME_MAX_BYTES = 64 };

/* Its place in the fit, DELAY or UNKNOWN. */
static int find_name(const struct model *model, const char *name)
{
    const int i = model_parameter_find(model, name);
    if (i >= 0) {
        return i;
    }
    for (size_t a = 0; a < model->axis_count; a++) {
        char bias[NAME_MAX_BYTES];
        const size_t at = model->parameter_count + a;
        if (strcmp(dynamics_parameter_name(model, at, bias, sizeof bias), name) == 0) {
            return (int)at;
        }
    }
    return strcmp(name, "delay_s") == 0 ? DELAY : UNKNOWN;
}

static enum status refuse_name(const struct model *model, const char *where, const char *name,
                               struct err *err)
{
    char names[256] = "";
    for (size_t i = 0; i < model->parameter_count; i++) {
        names_append(names, sizeof names, model->parameters[i].name);
    }
    return err_set(err, STATUS_E_PARSE, where, 0, 0, "%s has no '%.40s', but %s, delay_s",
                   model->name, name, names);
}

static enum status take_value(const struct model *model, const char *where, const char *name,
                              double value, struct dynamics_current *current, struct err *err)
{
    const int i = find_name(model, name);
    if (i == UNKNOWN) {
        return refuse_name(model, where, name, err);
    }
    if (i == DELAY) {
        current->delay_s = value;
    } else {
        current->value[i] = value;
    }
    return STATUS_OK;
}

/* One of "name=value". */
static enum status take_pair(const struct model *model, const char *text, size_t bytes,
                             struct dynamics_current *current, struct err *err)
{
    char pair[2 * NAME_MAX_BYTES];
    double number = 0.0;
    if (bytes >= sizeof pair) {
        return err_set(err, STATUS_E_PARSE, "--current", 0, 0, "too long: '%s'", text);
    }
    memcpy(pair, text, bytes);
    pair[bytes] = '\0';
    char *value = strchr(pair, '=');
    if (!value || number_parse_real(value + 1, &number) != NUMBER_FINE) {
        return err_set(err, STATUS_E_PARSE, "--current", 0, 0,
                       "cannot read '%s', write name=value,name=value or the name of a file",
                       pair);
    }
    *value = '\0';
    return take_value(model, "--current", pair, number, current, err);
}

static enum status take_list(const char *text, const struct model *model,
                             struct dynamics_current *current, struct err *err)
{
    enum status st = STATUS_OK;
    while (*text && st == STATUS_OK) {
        const size_t n = strcspn(text, ",");
        st = take_pair(model, text, n, current, err);
        text += n + (text[n] == ',');
    }
    return st;
}

static enum status take_document(json_t *document, const char *path, const struct model *model,
                                 struct dynamics_current *current, struct err *err)
{
    json_t *values = json_object_get(document, "values");
    json_t *errors = json_object_get(document, "se");
    json_t *delay = json_object_get(document, "delay_s");
    const char *name = NULL;
    json_t *value = NULL;
    enum status st = STATUS_OK;
    if (!json_is_object(values)) {
        return err_set(err, STATUS_E_PARSE, path, 0, 0,
                       "an object \"values\" of names and numbers was expected");
    }
    json_object_foreach(values, name, value)
    {
        if (st == STATUS_OK && json_is_number(value)) {
            st = take_value(model, path, name, json_number_value(value), current, err);
        }
    }
    json_object_foreach(errors, name, value)
    {
        const int i = find_name(model, name);
        if (i >= 0 && json_is_number(value)) {
            current->se[i] = json_number_value(value);
        }
    }
    delay = json_is_object(delay) ? json_object_get(delay, "value") : delay;
    current->delay_s = json_is_number(delay) ? json_number_value(delay) : current->delay_s;
    return st;
}

static enum status take_file(const char *path, const struct model *model,
                             struct dynamics_current *current, struct err *err)
{
    json_error_t fault;
    char text[128];
    FILE *in = fopen(path, "rb");
    if (!in) {
        return err_set(err, STATUS_E_IO, path, 0, 0, "cannot open: %s",
                       strerror_r(errno, text, sizeof text));
    }
    json_t *document = json_loadf(in, JSON_REJECT_DUPLICATES, &fault);
    (void)fclose(in);
    if (!document) {
        return err_set(err, STATUS_E_PARSE, path, (unsigned)(fault.line > 0 ? fault.line : 0),
                       0, "no JSON: %s", fault.text);
    }
    const enum status st = take_document(document, path, model, current, err);
    json_decref(document);
    return st;
}

enum status current_parameters_read(const char *text, const struct model *model,
                                    struct dynamics_current *current, struct err *err)
{
    struct dynamics_current read;
    dynamics_current_start(&read);
    const enum status st = strchr(text, '=') ? take_list(text, model, &read, err)
                                             : take_file(text, model, &read, err);
    if (st == STATUS_OK) {
        *current = read;
    }
    return st;
}
