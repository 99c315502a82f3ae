/* tests/support/text_pieces.h - a text for csv_read(), in pieces of any length. */
#ifndef TESTS_SUPPORT_TEXT_PIECES_H
#define TESTS_SUPPORT_TEXT_PIECES_H

#include "logger/message/csv.h"

struct text_pieces {
    const char *text;
    size_t n, piece, at;
};

static inline enum status next_text_piece(void *source, const char **bytes, size_t *n,
                                          struct err *err)
{
    struct text_pieces *pieces = source;
    (void)err;
    const size_t left = pieces->n - pieces->at;
    *bytes = pieces->text + pieces->at;
    *n = left < pieces->piece ? left : pieces->piece;
    pieces->at += *n;
    return STATUS_OK;
}

#endif
