/* service/cli/csv_product.h - a quantity made of columns: "tau_nm", "35.15*u_v", "duty*vin_v",
 * "-right_ticks". */
#ifndef SERVICE_CLI_CSV_PRODUCT_H
#define SERVICE_CLI_CSV_PRODUCT_H

#include <stddef.h>

#include "logger/message/csv.h"

enum { CSV_PRODUCT_MAX = 4 };

struct csv_product {
    double scale;
    size_t count;
    size_t column[CSV_PRODUCT_MAX];
};

/* Names and numbers with '*' between them, a minus before the whole turns its sign; a column of
 * just that name comes first. Returns STATUS_E_PARSE with err for a column that is not there,
 * more than CSV_PRODUCT_MAX columns or none. */
MUST_USE enum status csv_product_find(const struct csv *csv, const char *text,
                                      struct csv_product *product, struct err *err);

/* Of the current row; NaN where a field is empty or says that there is no value, unless strict.
 * Returns STATUS_E_PARSE with err for a field that is no number. */
MUST_USE enum status csv_product_value(const struct csv *csv, const struct csv_product *product,
                                       bool strict, double *value, struct err *err);

#endif
