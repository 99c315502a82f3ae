#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/numbers/number.h"
#include "service/identify/current_parameters.h"
#include "service/identify/estimate_page.h"
#include "twin/report/fit_report.h"

enum { DELAY = -1, UNKNOWN = -2, NAME_MAX_BYTES = 64 };

static size_t count_parts(const struct current_form *form)
{
    size_t parts = 0;
    while (parts < CURRENT_PARTS_MAX && form->part[parts]) {
        parts++;
    }
    return parts;
}

/* Its place in the estimate of *part, DELAY or UNKNOWN. */
static int find_name(const struct current_form *form, const char *name, size_t *part)
{
    for (*part = 0; *part < count_parts(form); ++*part) {
        const struct estimate *e = form->part[*part];
        for (size_t i = 0; i < e->p; i++) {
            if (strcmp(e->name[i], name) == 0 || (*name && strcmp(e->symbol[i], name) == 0)) {
                return (int)i;
            }
        }
    }
    *part = 0;
    return form->late && strcmp(name, "delay_s") == 0 ? DELAY : UNKNOWN;
}

static enum status refuse_name(const struct current_form *form, const char *where,
                               const char *name, struct err *err)
{
    char names[ERR_TEXT_MAX] = "";
    for (size_t part = 0; part < count_parts(form); part++) {
        for (size_t i = 0; i < form->part[part]->p; i++) {
            names_append_new(names, sizeof names, form->part[part]->name[i]);
        }
    }
    return err_set(err, STATUS_E_PARSE, FAULT_UNKNOWN_NAME, where,
                   "%s has no '%.40s', but %s%s", form->model, name, names,
                   form->late ? ", delay_s" : "");
}

static enum status take_value(const struct current_form *form, const char *where,
                              const char *name, double value, struct current_values *current,
                              struct err *err)
{
    size_t part = 0;
    const int i = find_name(form, name, &part);
    if (i == UNKNOWN) {
        return refuse_name(form, where, name, err);
    }
    if (i == DELAY) {
        current->delay_s = value;
    } else {
        current[part].value[i] = value;
    }
    return STATUS_OK;
}

/* One of "name=value". */
static enum status take_pair(const struct current_form *form, const char *text, size_t bytes,
                             struct current_values *current, struct err *err)
{
    char pair[2 * NAME_MAX_BYTES];
    double number = 0.0;
    if (bytes >= sizeof pair) {
        return err_set(err, STATUS_E_PARSE, FAULT_TOO_LONG, "--current", "too long: '%s'",
                       text);
    }
    memcpy(pair, text, bytes);
    pair[bytes] = '\0';
    char *value = strchr(pair, '=');
    if (!value || number_parse_real(value + 1, &number) != NUMBER_FINE) {
        return err_set(err, STATUS_E_PARSE, FAULT_BAD_FORMAT, "--current",
                       "cannot read '%s', write name=value,name=value or the name of a file",
                       pair);
    }
    *value = '\0';
    return take_value(form, "--current", pair, number, current, err);
}

static enum status take_list(const char *text, const struct current_form *form,
                             struct current_values *current, struct err *err)
{
    enum status st = STATUS_OK;
    while (*text && st == STATUS_OK) {
        const size_t n = strcspn(text, ",");
        st = take_pair(form, text, n, current, err);
        text += n + (text[n] == ',');
    }
    return st;
}

static enum status take_document(json_t *document, const char *path,
                                 const struct current_form *form,
                                 struct current_values *current, struct err *err)
{
    json_t *values = json_object_get(document, "values");
    json_t *errors = json_object_get(document, "se");
    json_t *delay = json_object_get(document, "delay_s");
    const char *name = NULL;
    json_t *value = NULL;
    enum status st = STATUS_OK;
    if (!json_is_object(values)) {
        return err_set(err, STATUS_E_PARSE, FAULT_OBJECT_EXPECTED, path,
                       "an object \"values\" of names and numbers was expected");
    }
    json_object_foreach(values, name, value)
    {
        if (st == STATUS_OK && json_is_number(value)) {
            st = take_value(form, path, name, json_number_value(value), current, err);
        }
    }
    json_object_foreach(errors, name, value)
    {
        size_t part = 0;
        const int i = find_name(form, name, &part);
        if (i >= 0 && json_is_number(value)) {
            current[part].se[i] = json_number_value(value);
        }
    }
    delay = json_is_object(delay) ? json_object_get(delay, "value") : delay;
    current->delay_s = json_is_number(delay) ? json_number_value(delay) : current->delay_s;
    return st;
}

static enum status take_file(const char *path, const struct current_form *form,
                             struct current_values *current, struct err *err)
{
    json_error_t fault;
    char text[128];
    FILE *in = fopen(path, "rb");
    if (!in) {
        return err_set(err, STATUS_E_IO, FAULT_FILE_UNREADABLE, path, "cannot open: %s",
                       strerror_r(errno, text, sizeof text));
    }
    json_t *document = json_loadf(in, JSON_REJECT_DUPLICATES, &fault);
    (void)fclose(in);
    if (!document) {
        return err_set_at(err, STATUS_E_PARSE, FAULT_BAD_SYNTAX, path,
                          (unsigned)(fault.line > 0 ? fault.line : 0), 0, "no JSON: %s",
                          fault.text);
    }
    const enum status st = take_document(document, path, form, current, err);
    json_decref(document);
    return st;
}

enum status current_parameters_read(const char *text, const struct current_form *form,
                                    struct current_values *current, struct err *err)
{
    struct current_values read[CURRENT_PARTS_MAX];
    for (size_t part = 0; part < CURRENT_PARTS_MAX; part++) {
        current_start(&read[part]);
    }
    const enum status st =
        strchr(text, '=') ? take_list(text, form, read, err) : take_file(text, form, read, err);
    if (st == STATUS_OK) {
        memcpy(current, read, count_parts(form) * sizeof read[0]);
    }
    return st;
}

enum status current_parameters_check(const char *text, const struct current_form *form,
                                     struct err *err)
{
    struct current_values ignored[CURRENT_PARTS_MAX];
    struct err why = {0};
    char line[32] = "";
    if (!text || current_parameters_read(text, form, ignored, &why) == STATUS_OK) {
        return STATUS_OK;
    }
    if (why.line > 0) {
        (void)snprintf(line, sizeof line, ":%u", why.line);
    }
    return err_set(err, STATUS_E_ARG, why.fault, "current", "%s%s: %s", why.where, line,
                   why.text);
}

enum status current_beside_read(const char *text, const struct current_form *form,
                                struct current_beside *beside, struct err *err)
{
    struct current_values values[CURRENT_PARTS_MAX];
    const enum status st = text ? current_parameters_read(text, form, values, err) : STATUS_OK;
    for (size_t part = 0; part < count_parts(form) && st == STATUS_OK; part++) {
        beside[part].given = text != NULL;
        if (text) {
            beside[part].values = values[part];
        }
    }
    return st;
}

void current_beside_compare(struct current_beside *beside, const struct estimate *e)
{
    struct current_values meant = beside->values;
    for (size_t i = 0; i < e->p && beside->given; i++) {
        meant.value[i] = e->identifiable[i] ? meant.value[i] : (double)NAN;
    }
    if (beside->given) {
        current_compare(e, &meant, &beside->comparison);
    }
}

void current_beside_judge(struct current_beside *beside, const char *model, struct estimate *e)
{
    current_beside_compare(beside, e);
    if (beside->given) {
        current_judge(e, model, e, &beside->values, &beside->comparison);
    }
}

void current_beside_write(struct json_writer *w, const struct estimate *e,
                          const struct current_beside *beside)
{
    current_report(w, e, &beside->values, beside->given ? &beside->comparison : NULL);
}

void current_beside_print(FILE *out, const struct estimate *e,
                          const struct current_beside *beside)
{
    if (beside->given) {
        estimate_page_current(out, e, &beside->values, &beside->comparison);
    }
}
