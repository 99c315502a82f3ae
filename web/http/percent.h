/* web/http/percent.h - percent-encoding, decoded strictly. Pure: no I/O, no allocation. */
#ifndef WEB_HTTP_PERCENT_H
#define WEB_HTTP_PERCENT_H

#include <stdbool.h>
#include <stddef.h>

/* Decode text[bytes] to out[size] with a NUL. False, with out unspecified, when a '%' is not
 * followed by two hexadecimal digits, when the result holds a control character (NUL above
 * all), or when it does not fit. '+' stays '+': ISO 8601 offsets need it. */
bool percent_decode(const char *text, size_t bytes, char *out, size_t size);

#endif
