/* twin/page/report_fits.h - the fits of a report: travel times, dynamics, fidelity, with
 * plots. twin/page/report_page.h is the whole.
 */
#ifndef TWIN_PAGE_REPORT_FITS_H
#define TWIN_PAGE_REPORT_FITS_H

#include "twin/page/report_pair.h"
#include "twin/report/svg_text.h"

void report_fits_write(const struct svg_text *h, const struct report_pair *pair);

#endif
