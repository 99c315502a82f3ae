/* service/identify/dynamics_page.h - a fit of dynamics made and written out. */
#ifndef SERVICE_IDENTIFY_DYNAMICS_PAGE_H
#define SERVICE_IDENTIFY_DYNAMICS_PAGE_H

#include "service/identify/identify_dynamics.h"

/* As identify_run(), for models of motion. */
MUST_USE enum status dynamics_page(const struct model_row *row,
                                   const struct identify_request *request, FILE *out,
                                   struct err *err);

#endif
