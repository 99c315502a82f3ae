#include "service/tool/other_names.h"

#include <string.h>

#include "base/errors/status.h"

static const struct {
    const char *name, *other;
} rows[] = {
    {"arm6", "arm"},
    {"arm6", "manipulator"},
    {"arm6", "ur3"},
    {"arm6", "ur5"},
    {"arm6", "ur10"},
    {"arm6", "ur16"},
    {"arm6", "ur20"},
    {"arm6", "ur30"},
    {"diffdrive", "differential"},
    {"diffdrive", "wheels"},
    {"diffdrive", "turtlebot"},
    {"usv3", "boat"},
    {"usv3", "ship"},
    {"usv3", "usv"},
    {"usv3", "vessel"},
};

void other_names_try(struct edit_guess *guess, const char *text, const char *name)
{
    edit_guess_try(guess, text, name);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct edit_guess other = {0};
        if (strcmp(rows[i].name, name) == 0) {
            edit_guess_try(&other, text, rows[i].other);
        }
        if (other.name && (!guess->name || other.distance < guess->distance)) {
            *guess = (struct edit_guess){name, other.distance};
        }
    }
}
