#include "identification/fit/plausible.h"

#include <math.h>
#include <stdio.h>

#include "base/text/text.h"

static const struct {
    enum plausible_unit unit;
    double factor;
    const char *words;
    bool usual; /* confused so often that a value near its factor is reported */
} mistakes[] = {
    {PLAUSIBLE_TIME, 1000.0, "milliseconds", false},
    {PLAUSIBLE_ANGLE, 57.29577951308232, "degrees", true},
    {PLAUSIBLE_ANGLE, 6.283185307179586, "revolutions", false},
    {PLAUSIBLE_LENGTH, 1000.0, "millimetres", true},
    {PLAUSIBLE_LENGTH, 100.0, "centimetres", false},
    {PLAUSIBLE_FORCE, 9.80665, "kilograms-force", false},
    {PLAUSIBLE_FORCE, 1000.0, "kilonewtons", false},
};

void plausible_doubt(struct estimate *e, const char *format, ...)
{
    char text[ESTIMATE_TEXT_MAX];
    TEXT_FORMAT(text, sizeof text, format);
    estimate_reason_first(e, REASON_WRONG_UNIT, ESTIMATE_MARGINAL, "%s", text);
    estimate_advise(e, "check the units of the columns: s, rad, m, N; --plausible off if "
                       "values really are that large or small");
}

/* Returns whether a value of unknown size is within an eighth of a unit factor. A right robot
 * may have it, too: a note. */
static bool is_near(struct estimate *e, const struct plausible_range *range, double value)
{
    for (size_t k = 0; k < COUNT(mistakes); k++) {
        const double off = fabs(fabs(log(fabs(value))) - log(mistakes[k].factor));
        if (mistakes[k].usual && (mistakes[k].unit & range->below) && off < 0.125) {
            estimate_note(e, REASON_WRONG_UNIT, "%s = %.3g is about %s%.5g: %s on one side?",
                          range->name, value, fabs(value) < 1.0 ? "1 / " : "",
                          mistakes[k].factor, mistakes[k].words);
            return true;
        }
    }
    return false;
}

bool plausible_judge(struct estimate *e, const struct plausible_range *range, double value,
                     const char *unit)
{
    const double size = fabs(value);
    const double power = range->root > 0.0 ? 1.0 / range->root : 1.0;
    const unsigned units = size < range->lo ? range->below : range->above;
    const double middle = 0.5 * log(fmax(range->lo, 1e-6 * range->hi) * range->hi);
    double least = INFINITY;
    size_t best = COUNT(mistakes);
    if (!(range->hi > 0.0)) {
        return is_near(e, range, value);
    }
    if (!(size < range->lo || size > range->hi)) {
        return false;
    }
    /* Chooses the unit that brings the value nearest to the middle of the range. */
    for (size_t k = 0; k < COUNT(mistakes); k++) {
        const double factor = pow(mistakes[k].factor, power);
        const double right = size < range->lo ? size * factor : size / factor;
        const double off = fabs(log(right) - middle);
        if ((mistakes[k].unit & units) && right >= range->lo && right <= range->hi &&
            off < least) {
            least = off;
            best = k;
        }
    }
    if (best < COUNT(mistakes)) {
        plausible_doubt(
            e,
            "%s = %.3g %s is implausible (%.3g to %.3g): looks like %s, a factor of "
            "%.5g",
            range->name, value, unit, range->lo, range->hi, mistakes[best].words,
            mistakes[best].factor);
    } else {
        plausible_doubt(e, "%s = %.3g %s is implausible (%.3g to %.3g): another unit?",
                        range->name, value, unit, range->lo, range->hi);
    }
    return true;
}
