#include "config/labfile/picture.h"

#include <stdlib.h>
#include <string.h>

struct scan {
    const char *at, *end;
    const char *name;
    unsigned line;
    struct err_list *errors;
};

/* Skips blanks and comments, which reach from # to the end of the line. */
static void skip_blanks(struct scan *s)
{
    bool comment = false;
    for (; s->at < s->end; s->at++) {
        comment = (comment || *s->at == '#') && *s->at != '\n' && *s->at != '\r';
        s->line += *s->at == '\n';
        if (!comment && !memchr(" \t\n\v\f\r", *s->at, 6)) {
            return;
        }
    }
}

/* Reads a whole number; what: its name in messages. */
static bool read_number(struct scan *s, const char *what, unsigned least, unsigned most,
                        unsigned *number)
{
    skip_blanks(s);
    const char *begin = s->at;
    unsigned value = 0;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9' && value <= most; s->at++) {
        value = 10 * value + (unsigned)(*s->at - '0');
    }
    if (s->at == begin || value < least || value > most) {
        (void)err_list_add(s->errors, STATUS_E_PARSE, FAULT_FILE_DAMAGED, s->name, s->line, 0,
                           begin == s->end ? "it ends before its %s, %u to %u was expected"
                                           : "its %s, %u to %u, was expected here",
                           what, least, most);
        return false;
    }
    *number = value;
    return true;
}

static bool read_bytes(struct scan *s, struct picture *p)
{
    const size_t each = p->white > 255 ? 2 : 1;
    const size_t count = p->width * p->height;
    const size_t left = s->at < s->end ? (size_t)(s->end - s->at) - 1 : 0;
    if (left < each * count) {
        (void)err_list_add(s->errors, STATUS_E_PARSE, FAULT_FILE_DAMAGED, s->name, 0, 0,
                           "it is cut off: %zu bytes of pixels were expected, %zu are there",
                           each * count, left);
        return false;
    }
    const unsigned char *from = (const unsigned char *)s->at + 1; /* behind one blank */
    for (size_t i = 0; i < count; i++, from += each) {
        p->shade[i] = (uint16_t)(each == 1 ? from[0] : from[0] << 8 | from[1]);
        if (p->shade[i] > p->white) {
            (void)err_list_add(s->errors, STATUS_E_PARSE, FAULT_OUT_OF_RANGE, s->name, 0, 0,
                               "pixel %zu is %u, at most %u was expected", i + 1, p->shade[i],
                               p->white);
            return false;
        }
    }
    return true;
}

static bool read_texts(struct scan *s, struct picture *p)
{
    bool fine = true;
    for (size_t i = 0; fine && i < p->width * p->height; i++) {
        unsigned value = 0;
        fine = read_number(s, "pixels", 0, p->white, &value);
        p->shade[i] = (uint16_t)value;
    }
    return fine;
}

static bool read_picture(struct scan *s, bool texts, struct picture *p)
{
    unsigned width = 0, height = 0;
    if (!read_number(s, "width", 1, PICTURE_SIDE_MAX, &width) ||
        !read_number(s, "height", 1, PICTURE_SIDE_MAX, &height) ||
        !read_number(s, "white", 1, 65535, &p->white)) {
        return false;
    }
    p->width = width;
    p->height = height;
    if (p->width * p->height > PICTURE_PIXELS_MAX) {
        (void)err_list_add(s->errors, STATUS_E_PARSE, FAULT_TOO_LARGE, s->name, 0, 0,
                           "it has %u x %u pixels, at most %d in all were expected", width,
                           height, PICTURE_PIXELS_MAX);
        return false;
    }
    /* Each pixel has a byte at least, so that a head alone asks for no memory. */
    if ((size_t)(s->end - s->at) < p->width * p->height) {
        (void)err_list_add(s->errors, STATUS_E_PARSE, FAULT_FILE_DAMAGED, s->name, 0, 0,
                           "it is cut off: %u x %u pixels were expected", width, height);
        return false;
    }
    p->shade = malloc(p->width * p->height * sizeof p->shade[0]);
    return p->shade && (texts ? read_texts(s, p) : read_bytes(s, p));
}

enum status picture_parse(const char *text, size_t bytes, const char *name, struct picture *out,
                          struct err_list *errors)
{
    struct err_list faults = {0};
    struct scan s = {text + (bytes < 2 ? bytes : 2), text + bytes, name, 1, &faults};
    const bool texts = bytes > 2 && memcmp(text, "P2", 2) == 0;
    *out = (struct picture){0};
    if (!texts && (bytes <= 2 || memcmp(text, "P5", 2) != 0)) {
        const bool png = bytes >= 4 && memcmp(text, "\x89PNG", 4) == 0;
        return err_list_add(errors, STATUS_E_PARSE, FAULT_WRONG_FILE, name, 0, 0,
                            "a PGM picture (P2 or P5) was expected, %s; convert it, as with: "
                            "convert map.png map.pgm",
                            png ? "this is PNG" : "this is none");
    }
    if (read_picture(&s, texts, out)) {
        return STATUS_OK;
    }
    picture_free(out);
    return faults.count > 0 ? err_list_add(errors, STATUS_E_PARSE, faults.items[0].fault, name,
                                           faults.items[0].line, 0, "%s", faults.items[0].text)
                            : err_list_add(errors, STATUS_E_NOMEM, FAULT_NO_MEMORY, name, 0, 0,
                                           "not enough memory for the picture");
}

void picture_free(struct picture *p)
{
    free(p->shade);
    *p = (struct picture){0};
}
