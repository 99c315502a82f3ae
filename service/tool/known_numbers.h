/* service/tool/known_numbers.h - prints pages for people without "nan". */
#ifndef SERVICE_TOOL_KNOWN_NUMBERS_H
#define SERVICE_TOOL_KNOWN_NUMBERS_H

#include <stdio.h>

/* Print a page in which a number that is not known is "nan" or "-nan", as printf() writes it:
 * each becomes "not known", without the unit s behind it. Words and names with these letters
 * stay. */
void known_numbers_print(const char *page, FILE *out);

#endif
