#include "service/jobs/identify_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/identify/identify_options.h"
#include "web/http/percent.h"

enum { SHOWN_MAX = 40, VALUE_MAX = 1024 };

static enum status refuse_value(const struct identify_option *option, const char *what,
                                struct err *err)
{
    return err_set(err, STATUS_E_ARG, option->query, 0, 0, "%s", what);
}

static enum status take_text(const struct identify_option *option, const char *value,
                             struct identify_words *words, const char **text, struct err *err)
{
    const size_t n = strlen(value);
    if (n == 0 || n > option->longest || n >= sizeof words->text - words->used) {
        return err_set(err, STATUS_E_ARG, option->query, 0, 0, "must have 1 to %zu characters",
                       option->longest);
    }
    *text = memcpy(words->text + words->used, value, n + 1);
    words->used += n + 1;
    return STATUS_OK;
}

static enum status take_flag(const struct identify_option *option, const char *value,
                             bool *flag, struct err *err)
{
    *flag = strcmp(value, "true") == 0;
    return *flag || strcmp(value, "false") == 0
               ? STATUS_OK
               : refuse_value(option, "must be true or false", err);
}

/* Digits, a point, an exponent: what JSON calls a number. */
static enum status take_real(const struct identify_option *option, const char *value,
                             double *real, struct err *err)
{
    const struct argument *argument = &option->argument;
    char *end = NULL;
    const double number = strtod(value, &end);
    if (value[strspn(value, "0123456789.eE+-")] || value[0] == '\0' || *end ||
        !(number >= argument->min && number <= argument->max)) {
        return err_set(err, STATUS_E_ARG, option->query, 0, 0,
                       "must be a number from %.10g to %.10g", argument->min, argument->max);
    }
    *real = number;
    return STATUS_OK;
}

static enum status take_value(const struct identify_option *option, const char *value,
                              struct identify_words *words, struct identify_request *request,
                              struct err *err)
{
    void *at = identify_option_value(option, request);
    switch (option->argument.kind) {
    case ARGUMENT_FLAG:
        return take_flag(option, value, at, err);
    case ARGUMENT_REAL:
        return take_real(option, value, at, err);
    case ARGUMENT_TEXT:
    case ARGUMENT_LIST:
    case ARGUMENT_INTEGER:
        break;
    }
    return take_text(option, value, words, at, err);
}

static enum status refuse_name(const char *text, size_t n, struct err *err)
{
    char where[SHOWN_MAX + 1];
    char names[ERR_TEXT_MAX] = "";
    size_t used = 0;
    (void)snprintf(where, sizeof where, "%.*s", (int)(n < SHOWN_MAX ? n : SHOWN_MAX), text);
    for (size_t i = 0; i < IDENTIFY_OPTION_COUNT && used < sizeof names; i++) {
        if (identify_options[i].query) {
            const int k =
                snprintf(names + used, sizeof names - used, " %s", identify_options[i].query);
            used += k > 0 ? (size_t)k : 0;
        }
    }
    return err_set(err, STATUS_E_ARG, where, 0, 0, "unknown parameter; this resource has%s",
                   names);
}

/* Its row; NULL: there is none of this name. */
static const struct identify_option *find_option(const char *text, size_t n)
{
    char name[VALUE_MAX];
    const bool is_name = percent_decode(text, n, name, sizeof name);
    for (size_t i = 0; is_name && i < IDENTIFY_OPTION_COUNT; i++) {
        if (identify_options[i].query && strcmp(identify_options[i].query, name) == 0) {
            return &identify_options[i];
        }
    }
    return NULL;
}

/* One "name=value"; given: a bit for each row that was there before. */
static enum status take_pair(const char *text, size_t n, unsigned *given,
                             struct identify_words *words, struct identify_request *request,
                             struct err *err)
{
    const char *equals = memchr(text, '=', n);
    const size_t name_n = equals ? (size_t)(equals - text) : n;
    char value[VALUE_MAX];
    const struct identify_option *option = find_option(text, name_n);
    if (!option) {
        return refuse_name(text, name_n, err);
    }
    const unsigned bit = 1U << (option - identify_options);
    if (*given & bit) {
        return refuse_value(option, "given twice", err);
    }
    *given |= bit;
    if (!equals || !percent_decode(equals + 1, n - name_n - 1, value, sizeof value)) {
        return refuse_value(option, "has no value, a broken %XX, or is too long", err);
    }
    return take_value(option, value, words, request, err);
}

enum status identify_query_read(const char *query, struct identify_words *words,
                                struct identify_request *request, struct err *err)
{
    unsigned given = 0;
    enum status st = STATUS_OK;
    words->used = 0;
    *request = identify_request_defaults();
    for (const char *at = query; *at && st == STATUS_OK;) {
        const size_t n = strcspn(at, "&");
        st = n > 0 ? take_pair(at, n, &given, words, request, err) : STATUS_OK;
        at += n + (at[n] == '&');
    }
    if (st == STATUS_OK && request->name && strchr(request->name, '/')) {
        st = err_set(err, STATUS_E_ARG, "name", 0, 0, "must be a file's name without folders");
    }
    return st;
}
