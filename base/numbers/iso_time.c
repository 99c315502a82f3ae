#include "base/numbers/iso_time.h"

#include <string.h>

#include "base/numbers/number.h"

static const int64_t SECOND_US = 1000000;
static const int64_t DAY_US = INT64_C(86400000000);

enum { DATE_BYTES = 10, SECONDS_END = 19, DIGITS_MAX = 9, NO_DIGITS = 100 };

/* Parses 0 to 99; NO_DIGITS is beyond the range of any part of a time. */
static int64_t two_digits(const char *text)
{
    const unsigned tens = (unsigned)text[0] - '0';
    const unsigned ones = (unsigned)text[1] - '0';
    return tens <= 9 && ones <= 9 ? 10 * tens + ones : NO_DIGITS;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int64_t days_in_month(int64_t year, int64_t month)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* Converts a date of the proleptic Gregorian calendar to days since 1970-01-01. Years begin in
 * March, so that the leap day is the last of its year; 400 years have 146097 days. */
static int64_t days_from_date(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    const int64_t era = (year >= 0 ? year : year - 399) / 400;
    const int64_t year_of_era = year - era * 400;
    const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

/* Returns what is wrong with the date that the text begins with; NULL: nothing. */
static const char *read_date(const char *text, size_t bytes, int64_t *days)
{
    if (bytes < DATE_BYTES || text[4] != '-' || text[7] != '-' ||
        two_digits(text) == NO_DIGITS || two_digits(text + 2) == NO_DIGITS) {
        return "it begins with no date as in 2026-11-20";
    }
    const int64_t year = 100 * two_digits(text) + two_digits(text + 2);
    const int64_t month = two_digits(text + 5);
    const int64_t day = two_digits(text + 8);
    if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) {
        return "the calendar has no such day";
    }
    *days = days_from_date(year, month, day);
    return NULL;
}

/* Does the same for the time of day, without its fraction. */
static const char *read_clock(const char *text, size_t bytes, int64_t *seconds)
{
    if (bytes == DATE_BYTES) {
        return "the time of day is missing, as in T05:55:55Z";
    }
    if (text[DATE_BYTES] != 'T' && text[DATE_BYTES] != ' ' && text[DATE_BYTES] != 't') {
        return "T or a blank is missing between date and time";
    }
    if (bytes < SECONDS_END || text[13] != ':' || text[16] != ':') {
        return bytes >= SECONDS_END - 3 && text[13] == ':'
                   ? "the seconds are missing, as in 05:55:55"
                   : "the time of day is not written as in 05:55:55";
    }
    const int64_t hour = two_digits(text + 11);
    const int64_t minute = two_digits(text + 14);
    const int64_t second = two_digits(text + 17);
    if (hour > 23 || minute > 59 || second > 60) {
        return "the day has no such hour, minute or second";
    }
    *seconds = hour * 3600 + minute * 60 + second;
    return NULL;
}

/* Does the same for the fraction of a second; *used is advanced behind it. */
static const char *read_fraction(const char *text, size_t bytes, size_t *used, int64_t *us)
{
    size_t digits = 0;
    *us = 0;
    if (*used == bytes || (text[*used] != '.' && text[*used] != ',')) {
        return NULL;
    }
    for (++*used; *used < bytes && is_digit(text[*used]); ++*used, digits++) {
        *us = digits < 6 ? 10 * *us + (text[*used] - '0') : *us;
    }
    for (size_t k = digits; k < 6; k++) {
        *us *= 10;
    }
    return digits == 0           ? "digits are missing behind the point"
           : digits > DIGITS_MAX ? "at most 9 digits may follow the point"
                                 : NULL;
}

bool iso_time_parse_zone(const char *text, size_t bytes, int64_t *offset_s)
{
    *offset_s = 0;
    if (bytes > 0 && (text[0] == 'Z' || text[0] == 'z')) {
        text++;
        bytes--;
    }
    if (bytes == 0) {
        return true;
    }
    if ((text[0] != '+' && text[0] != '-') || (bytes != 3 && bytes != 5 && bytes != 6) ||
        (bytes == 6 && text[3] != ':')) {
        return false;
    }
    const int64_t hours = two_digits(text + 1);
    const int64_t minutes = bytes > 3 ? two_digits(text + bytes - 2) : 0;
    *offset_s = (hours * 3600 + minutes * 60) * (text[0] == '-' ? -1 : 1);
    return hours < 24 && minutes < 60;
}

bool iso_time_parse(const char *text, size_t bytes, struct iso_time *out)
{
    int64_t days = 0;
    int64_t seconds = 0;
    int64_t us = 0;
    int64_t offset_s = 0;
    size_t used = SECONDS_END;
    *out = (struct iso_time){.us = LAB_TIME_NONE};
    out->wanted = read_date(text, bytes, &days);
    out->wanted = out->wanted ? out->wanted : read_clock(text, bytes, &seconds);
    out->wanted = out->wanted ? out->wanted : read_fraction(text, bytes, &used, &us);
    if (out->wanted) {
        return false;
    }
    used += used + 1 < bytes && text[used] == ' ';
    if (!iso_time_parse_zone(text + used, bytes - used, &offset_s)) {
        out->wanted = "the zone is not Z, +02:00 or +0200";
        return false;
    }
    out->zoned = used < bytes;
    out->us = (days * 86400 + seconds - offset_s) * SECOND_US + us;
    return true;
}

/* ---- times that people ask for ---- */

/* Parses "1763617674.25" exactly, because a double would round the last microsecond. */
static int64_t read_unix_seconds(const char *text)
{
    static const char digits[] = "0123456789";
    const size_t whole = strspn(text, digits);
    const bool point = text[whole] == '.';
    const char *fraction = text + whole + (point ? 1 : 0);
    const size_t part = strspn(fraction, digits);
    int64_t us = 0;
    if (whole < 1 || whole > 11 || part > 6 || (point && part < 1) || fraction[part]) {
        return LAB_TIME_NONE;
    }
    for (size_t k = 0; k < whole; k++) {
        us = 10 * us + (text[k] - '0');
    }
    for (size_t k = 0; k < 6; k++) {
        us = 10 * us + (k < part ? fraction[k] - '0' : 0);
    }
    return us;
}

/* Parses "-2h": that long before now. */
static int64_t read_ago(const char *text, int64_t now_us)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1},      {"m", 60},      {"min", 60},
                 {"h", 3600.0}, {"d", 86400.0}, {"w", 604800.0}};
    double count = 0.0;
    const char *end = number_scan(text + 1, text + strlen(text), &count);
    for (size_t i = 0; i < sizeof units / sizeof *units && end > text + 1; i++) {
        const int64_t ago_us = lab_us(count * units[i].seconds);
        if (strcmp(end, units[i].name) == 0) {
            return count >= 0.0 && ago_us != LAB_TIME_NONE ? now_us - ago_us : LAB_TIME_NONE;
        }
    }
    return LAB_TIME_NONE;
}

int64_t iso_time_parse_asked(const char *text, int64_t now_us)
{
    const size_t bytes = strlen(text);
    const int64_t midnight_us = now_us - now_us % DAY_US;
    const int64_t unix_us = read_unix_seconds(text);
    int64_t days = 0;
    struct iso_time time;
    if (unix_us != LAB_TIME_NONE) {
        return unix_us;
    }
    if (bytes == DATE_BYTES && !read_date(text, bytes, &days)) {
        return days * DAY_US;
    }
    (void)iso_time_parse(text, bytes, &time);
    return strcmp(text, "now") == 0         ? now_us
           : strcmp(text, "today") == 0     ? midnight_us
           : strcmp(text, "yesterday") == 0 ? midnight_us - DAY_US
           : text[0] == '-'                 ? read_ago(text, now_us)
                                            : time.us;
}
