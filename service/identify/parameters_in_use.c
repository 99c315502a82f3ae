#include <errno.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "base/numbers/number.h"
#include "service/identify/parameters_in_use.h"
#include "twin/report/fit_report.h"

enum { DELAY = -1, UNKNOWN = -2, NAME_MAX_BYTES = 64 };

static size_t count_parts(const struct parameters_in_use_form *form)
{
    size_t parts = 0;
    while (parts < PARAMETERS_IN_USE_PARTS_MAX && form->part[parts]) {
        parts++;
    }
    return parts;
}

/* Returns a name's index in the estimate of *part, DELAY or UNKNOWN. */
static int find_name(const struct parameters_in_use_form *form, const char *name, size_t *part)
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

static enum status refuse_name(const struct parameters_in_use_form *form, const char *where,
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

static enum status set_value(const struct parameters_in_use_form *form, const char *where,
                             const char *name, double value, struct reference_values *reference,
                             struct err *err)
{
    size_t part = 0;
    const int i = find_name(form, name, &part);
    if (i == UNKNOWN) {
        return refuse_name(form, where, name, err);
    }
    if (i == DELAY) {
        reference->delay_s = value;
    } else {
        reference[part].value[i] = value;
    }
    return STATUS_OK;
}

/* Parses one "name=value". */
static enum status parse_pair(const struct parameters_in_use_form *form, const char *text,
                              size_t bytes, struct reference_values *reference, struct err *err)
{
    char pair[2 * NAME_MAX_BYTES];
    double number = 0.0;
    if (bytes >= sizeof pair) {
        return err_set(err, STATUS_E_PARSE, FAULT_TOO_LONG, "--reference", "too long: '%s'",
                       text);
    }
    memcpy(pair, text, bytes);
    pair[bytes] = '\0';
    char *value = strchr(pair, '=');
    if (!value || number_parse_real(value + 1, &number) != NUMBER_FINE) {
        return err_set(err, STATUS_E_PARSE, FAULT_BAD_FORMAT, "--reference",
                       "cannot read '%s', write name=value,name=value or the name of a file",
                       pair);
    }
    *value = '\0';
    return set_value(form, "--reference", pair, number, reference, err);
}

static enum status parse_list(const char *text, const struct parameters_in_use_form *form,
                              struct reference_values *reference, struct err *err)
{
    enum status st = STATUS_OK;
    while (*text && st == STATUS_OK) {
        const size_t n = strcspn(text, ",");
        st = parse_pair(form, text, n, reference, err);
        text += n + (text[n] == ',');
    }
    return st;
}

static enum status parse_document(json_t *document, const char *path,
                                  const struct parameters_in_use_form *form,
                                  struct reference_values *reference, struct err *err)
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
    json_object_foreach(values, name, value) {
        if (st == STATUS_OK && json_is_number(value)) {
            st = set_value(form, path, name, json_number_value(value), reference, err);
        }
    }
    json_object_foreach(errors, name, value) {
        size_t part = 0;
        const int i = find_name(form, name, &part);
        if (i >= 0 && json_is_number(value)) {
            reference[part].se[i] = json_number_value(value);
        }
    }
    const json_t *interval = json_object_get(delay, "ci95"); /* NULL for a number */
    if (json_is_number(json_array_get(interval, 0)) &&
        json_is_number(json_array_get(interval, 1))) {
        reference->delay_lo_s = json_number_value(json_array_get(interval, 0));
        reference->delay_hi_s = json_number_value(json_array_get(interval, 1));
    }
    delay = json_is_object(delay) ? json_object_get(delay, "value") : delay;
    reference->delay_s = json_is_number(delay) ? json_number_value(delay) : reference->delay_s;
    return st;
}

static enum status read_file(const char *path, const struct parameters_in_use_form *form,
                             struct reference_values *reference, struct err *err)
{
    json_error_t fault;
    FILE *in = fopen(path, "rb");
    if (!in) {
        return err_set(err, STATUS_E_IO, FAULT_FILE_UNREADABLE, path, "cannot open: %s",
                       strerrordesc_np(errno));
    }
    json_t *document = json_loadf(in, JSON_REJECT_DUPLICATES, &fault);
    (void)fclose(in);
    if (!document) {
        return err_set_at(err, STATUS_E_PARSE, FAULT_BAD_SYNTAX, path,
                          (unsigned)(fault.line > 0 ? fault.line : 0), 0, "no JSON: %s",
                          fault.text);
    }
    const enum status st = parse_document(document, path, form, reference, err);
    json_decref(document);
    return st;
}

enum status parameters_in_use_parse(const char *text, const struct parameters_in_use_form *form,
                                    struct reference_values *reference, struct err *err)
{
    struct reference_values read[PARAMETERS_IN_USE_PARTS_MAX];
    for (size_t part = 0; part < PARAMETERS_IN_USE_PARTS_MAX; part++) {
        reference_start(&read[part]);
    }
    const enum status st = strchr(text, '=') ? parse_list(text, form, read, err)
                                             : read_file(text, form, read, err);
    if (st == STATUS_OK) {
        memcpy(reference, read, count_parts(form) * sizeof read[0]);
    }
    return st;
}

enum status parameters_in_use_check(const char *text, const struct parameters_in_use_form *form,
                                    struct err *err)
{
    struct reference_values ignored[PARAMETERS_IN_USE_PARTS_MAX];
    struct err why = {0};
    char line[32] = "";
    if (!text || parameters_in_use_parse(text, form, ignored, &why) == STATUS_OK) {
        return STATUS_OK;
    }
    if (why.line > 0) {
        (void)snprintf(line, sizeof line, ":%u", why.line);
    }
    return err_set(err, STATUS_E_ARG, why.fault, "reference", "%s%s: %s", why.where, line,
                   why.text);
}

enum status parameters_in_use_read(const char *text, const struct parameters_in_use_form *form,
                                   struct reference_check *in_use, struct err *err)
{
    struct reference_values values[PARAMETERS_IN_USE_PARTS_MAX];
    const enum status st = text ? parameters_in_use_parse(text, form, values, err) : STATUS_OK;
    for (size_t part = 0; part < count_parts(form) && st == STATUS_OK; part++) {
        in_use[part].given = text != NULL;
        if (text) {
            in_use[part].values = values[part];
        }
    }
    return st;
}

void parameters_in_use_compare(struct reference_check *in_use, const struct estimate *e)
{
    struct reference_values meant = in_use->values;
    for (size_t i = 0; i < e->p && in_use->given; i++) {
        meant.value[i] = e->identifiable[i] ? meant.value[i] : (double)NAN;
    }
    if (in_use->given) {
        reference_compare(e, &meant, &in_use->comparison);
    }
}

void parameters_in_use_judge(struct reference_check *in_use, const char *model,
                             struct estimate *e)
{
    parameters_in_use_compare(in_use, e);
    if (in_use->given) {
        reference_judge(e, model, e, &in_use->values, &in_use->comparison);
    }
}

void parameters_in_use_write(struct json_writer *w, const struct estimate *e,
                             const struct reference_check *in_use)
{
    reference_report(w, e, &in_use->values, in_use->given ? &in_use->comparison : NULL);
}
