#include "service/cli/csv_product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 128 };

/* What a logger writes when it has no value. */
static bool is_missing(const char *text)
{
    static const char *const words[] = {"", "nan", "NaN", "NAN", "null", "NA", "inf", "-inf"};
    const char first = text[0] == '-' ? text[1] : text[0];
    if ((first >= '0' && first <= '9') || first == '.') {
        return false;
    }
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(text, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* A number, or a column. */
static enum status take_factor(const struct csv *csv, const char *name,
                               struct csv_product *product, struct err *err)
{
    char *end = NULL;
    const double number = strtod(name, &end);
    if (csv_find(csv, name) < 0 && end != name && *end == '\0' && isfinite(number)) {
        product->scale *= number;
        return STATUS_OK;
    }
    if (product->count == CSV_PRODUCT_MAX) {
        return err_set(err, STATUS_E_PARSE, csv->name, csv->line, 0,
                       "more than %d columns in one product", (int)CSV_PRODUCT_MAX);
    }
    return csv_require(csv, name, &product->column[product->count++], err);
}

enum status csv_product_find(const struct csv *csv, const char *text,
                             struct csv_product *product, struct err *err)
{
    *product = (struct csv_product){.scale = 1.0};
    if (text[0] == '-' && csv_find(csv, text) < 0) {
        product->scale = -1.0;
        text++;
    }
    if (csv_find(csv, text) >= 0 || !strchr(text, '*')) {
        product->count = 1;
        return csv_require(csv, text, &product->column[0], err);
    }
    for (const char *at = text; at;) {
        char name[NAME_MAX_BYTES];
        const char *star = strchr(at, '*');
        const size_t n = star ? (size_t)(star - at) : strlen(at);
        if (n >= sizeof name) {
            return err_set(err, STATUS_E_PARSE, csv->name, csv->line, 0,
                           "a name in '%s' is too long", text);
        }
        memcpy(name, at, n);
        name[n] = '\0';
        const enum status st = take_factor(csv, name, product, err);
        if (st != STATUS_OK) {
            return st;
        }
        at = star ? star + 1 : NULL;
    }
    return product->count > 0 ? STATUS_OK
                              : err_set(err, STATUS_E_PARSE, csv->name, csv->line, 0,
                                        "there is no column in '%s'", text);
}

enum status csv_product_value(const struct csv *csv, const struct csv_product *product,
                              bool strict, double *value, struct err *err)
{
    double all = product->scale;
    for (size_t i = 0; i < product->count; i++) {
        double factor = (double)NAN;
        if (strict || !is_missing(csv_text(csv, product->column[i]))) {
            const enum status st = csv_number(csv, product->column[i], &factor, err);
            if (st != STATUS_OK) {
                return st;
            }
        }
        all *= factor;
    }
    *value = all + 0.0; /* zeros without a sign */
    return STATUS_OK;
}
