/* twin/page/report_fits.h - the fits of a report: travel times, dynamics, fidelity, with
 * plots. twin/page/report_page.h is the whole.
 */
#ifndef TWIN_PAGE_REPORT_FITS_H
#define TWIN_PAGE_REPORT_FITS_H

#include "twin/page/report_pair.h"
#include "twin/report/lag_picture.h"
#include "twin/report/svg_text.h"

/* Writes a plot as a figure; description: for people who do not see it. */
void report_picture_write(const struct svg_text *h, const struct lag_panel *panel,
                          const char *title, const char *description, const char *caption);
void report_fits_write(const struct svg_text *h, const struct report_pair *pair);

#endif
