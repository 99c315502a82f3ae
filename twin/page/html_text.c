#include "twin/page/html_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

/* Mail filters look for addresses and sources. In texts their signs are written as entities. */
static bool looks_like_source(const char *text, const char *at)
{
    const size_t before = (size_t)(at - text);
    return *at == '=' || (*at == ':' && ((before >= 4 && strncmp(at - 4, "http", 4) == 0) ||
                                         (before >= 5 && strncmp(at - 5, "https", 5) == 0)));
}

void html_text(const struct svg_text *h, const char *text)
{
    for (const char *at = text; *at; at++) {
        const unsigned char c = (unsigned char)*at;
        if (looks_like_source(text, at)) {
            svg_printf(h, "&#%d;", c);
        } else {
            const char one[2] = {(c < ' ' && c != '\n') || c == 0x7f ? '?' : *at, '\0'};
            svg_print_escaped(h, one);
        }
    }
}

void html_fill(const struct svg_text *h, const char *page, ...)
{
    va_list args;
    va_start(args, page);
    for (const char *at = strchr(page, '@'); at; at = strchr(page, '@')) {
        h->output(h->context, page, (size_t)(at - page));
        html_text(h, va_arg(args, const char *));
        page = at + 1;
    }
    va_end(args);
    h->output(h->context, page, strlen(page));
}

void html_element(const struct svg_text *h, const char *tag, const char *text)
{
    html_fill(h, "<@>@</@>\n", tag, text, tag);
}

void html_table(const struct svg_text *h, const char *caption, const char *columns)
{
    html_fill(h, "<table><caption>@</caption>\n<thead><tr>", caption);
    while (*columns) {
        const bool is_text = *columns == '<';
        columns += is_text;
        const size_t n = strcspn(columns, "|");
        svg_printf(h, "<th scope=\"col\"%s>%.*s</th>", is_text ? " class=\"t\"" : "", (int)n,
                   columns);
        columns += n + (columns[n] == '|');
    }
    svg_printf(h, "</tr></thead>\n<tbody>\n");
}

void html_table_end(const struct svg_text *h)
{
    svg_printf(h, "</tbody></table>\n");
}

void html_cell_number(const struct svg_text *h, double value)
{
    if (isfinite(value)) {
        svg_printf(h, "<td>%.4g</td>", value);
    } else {
        svg_printf(h, "<td>–</td>");
    }
}

static void print_end(const struct svg_text *h, double value)
{
    if (isfinite(value)) {
        svg_printf(h, "%.4g", value);
    } else {
        svg_printf(h, "open");
    }
}

static void print_interval(const struct svg_text *h, double lo, double hi)
{
    if (!isfinite(lo) && !isfinite(hi)) {
        svg_printf(h, "<td>–</td>");
        return;
    }
    svg_printf(h, "<td class=\"i\">");
    print_end(h, lo);
    svg_printf(h, " to ");
    print_end(h, hi);
    svg_printf(h, "</td>");
}

void html_row(const struct svg_text *h, const char *kinds, ...)
{
    va_list args;
    va_start(args, kinds);
    svg_printf(h, "<tr>");
    for (; *kinds; kinds++) {
        if (*kinds == 'h' || *kinds == 't') {
            html_fill(h, *kinds == 'h' ? "<th scope=\"row\">@</th>" : "<td class=\"t\">@</td>",
                      va_arg(args, const char *));
        } else if (*kinds == 'u') {
            svg_printf(h, "<td>%llu</td>", (unsigned long long)va_arg(args, uint64_t));
        } else if (*kinds == 'i') {
            const double lo = va_arg(args, double);
            print_interval(h, lo, va_arg(args, double));
        } else {
            html_cell_number(h, va_arg(args, double));
        }
    }
    svg_printf(h, "</tr>\n");
    va_end(args);
}
