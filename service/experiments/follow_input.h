/* service/experiments/follow_input.h - what the robots of an experiment are told to do, from
 * its CSV file, on an even grid. */
#ifndef SERVICE_EXPERIMENTS_FOLLOW_INPUT_H
#define SERVICE_EXPERIMENTS_FOLLOW_INPUT_H

#include "service/experiments/experiment_file.h"

struct follow_input { /* all zero is empty */
    struct trial_input input;
    double *reference, *plant; /* its columns */
};

/* Read file->input_path. STATUS_E_IO, STATUS_E_PARSE, STATUS_E_RANGE, STATUS_E_NOMEM with err
 * filled; *out is written only on STATUS_OK. Allocates. */
MUST_USE enum status follow_input_read(const struct experiment_file *file,
                                       struct follow_input *out, struct err *err);

void follow_input_free(struct follow_input *input);

/* Rows of numbers without names: [rows][columns], as many as the file has, at least rows; the
 * surplus is passed over. Errors as above. */
MUST_USE enum status follow_draws_read(const char *path, size_t rows, size_t columns,
                                       double *draws, struct err *err);

#endif
