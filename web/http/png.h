/* web/http/png.h - pictures of few colours as PNG (W3C recommendation, ISO/IEC 15948). */
#ifndef WEB_HTTP_PNG_H
#define WEB_HTTP_PNG_H

#include <stdint.h>

#include "web/http/body.h"

enum { PNG_COLOURS_MAX = 256, PNG_SIDE_MAX = 10000 };

struct png_colour {
    uint8_t red, green, blue, alpha; /* alpha 0: transparent */
};

struct png_picture {
    size_t width, height;          /* 1 .. PNG_SIDE_MAX */
    const struct png_colour *colours; /* [colour_count] 1 .. PNG_COLOURS_MAX */
    size_t colour_count;
    /* Returns the colour of a pixel, counted from the upper left. */
    uint8_t (*colour_at)(const void *context, size_t x, size_t y);
    const void *context;
};

/* Appends the file. Without memory out->failed is set. */
void png_write(const struct png_picture *picture, struct body *out);

#endif
