/* twin/pair/parameters.h - parameter sets of a pair: from a fit to the simulator, and back.
 *
 *   fit --checks--> candidate --promote--> active --promote another--> retired
 *                                            ^------- rollback ----------'
 *
 * A fit of the real robot's travel times or dynamics becomes a candidate only if its checks
 * pass. A candidate is activated by hand or automatically, is published to the simulator, and
 * can be rolled back to the previously active set. Sets are numbered per pair and never
 * changed. docs/model/parameters.md. Plain data without pointers. Pure, apart from GSL's
 * allocations in the fit.
 */
#ifndef TWIN_PAIR_PARAMETERS_H
#define TWIN_PAIR_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/travel/profile_time.h"
#include "identification/travel/travel_time.h"
#include "logger/message/json_write.h"
#include "twin/pair/parameter_adjust.h"

enum {
    PARAMETERS_RETAINED = 4,
    PARAMETERS_DETAIL_MAX = 160,
    PARAMETERS_SKIPPED = 10 /* versions that a run may have published and lost */
};

enum parameter_state {
    PARAMETERS_NONE,
    PARAMETERS_CANDIDATE,
    PARAMETERS_ACTIVE,
    PARAMETERS_RETIRED
};

struct parameter_set {
    uint32_t version; /* 1, 2 … within the pair; 0: empty */
    uint8_t state;    /* enum parameter_state */
    uint8_t method;   /* enum travel_method; for a model of dynamics, enum dynamics_method */
    uint8_t verdict;  /* enum estimate_verdict of its checks */
    uint8_t model;    /* 0: travel times; else 1 + index of model_at() */
    uint8_t count;    /* number of values */
    uint8_t refined;  /* consecutive sets that only corrected the simulator's response */
    bool commanded;   /* travel times: those of an arm */
    uint16_t n;       /* moves, or samples (at most 65535) */
    int64_t made_us;
    int64_t since_us, until_us; /* of the moves it is based on */
    uint64_t data_hash;         /* hash of those moves */
    uint64_t order;             /* order of its last promotion; 0: never */
    /* Travel times: parameter_terms_of(commanded); a model: its parameters, then a constant
     * effort per axis if they were fitted; NaN: unknown. */
    double value[DYNAMICS_P_MAX], se[DYNAMICS_P_MAX]; /* [count] */
    struct parameter_sent sent; /* travel times: the request to the simulator */
};

struct parameter_book { /* All zero is an empty book. */
    uint32_t last_version;
    uint64_t promotions;
    struct parameter_set set[PARAMETERS_RETAINED];
};

/* Checks that a fit must pass to become a candidate. */
enum parameter_check {
    CHECK_EXCITATION, /* the data determine the parameters */
    CHECK_SIGNS,      /* the values are physically possible */
    CHECK_PRECISION,  /* the standard errors are small enough */
    CHECK_HELD_OUT,   /* the older data predict the newer */
    CHECK_FIT,        /* the fit's own verdict */
    PARAMETERS_CHECKS
};

struct parameter_checks {          /* All zero means that all passed. */
    enum estimate_verdict verdict; /* the worst */
    struct {
        enum estimate_verdict verdict;
        char detail[PARAMETERS_DETAIL_MAX];
    } check[PARAMETERS_CHECKS];
};

/* The moves of one side, oldest first. */
struct parameter_data {
    const struct travel_move *moves;      /* [n] */
    const struct profile_move *commanded; /* [n], instead of moves for an arm; else NULL */
    size_t n;
    int64_t since_us, until_us;
    enum travel_motion motion; /* kinds of motion that its moves can have */
};

/* The result of a fit. */
struct parameter_fit {
    bool commanded; /* an arm's */
    union {
        struct travel_fit travel;
        struct profile_fit profile;
    };
};

/* Does an arm have enough moves of a class to use its terms? */
bool parameter_fit_asks(const struct profile_fit *fit, enum profile_class kind);

/* Computes the terms of a set, value and se [count]; NaN: unknown, or too few moves of their
 * class. widened: the standard error whose normal interval equals the fit's own (Student)
 * interval, or the one that allows for effects that the fit did not find. It is wider than se
 * if few moves determine the noise, NaN if too few do. */
void parameter_fit_terms(const struct parameter_fit *fit, bool widened, double *value,
                         double *se);

ENUM_NAMES_DECLARED(parameter_check);

/* Records the result of one check. */
void parameters_add_check(struct parameter_checks *checks, enum parameter_check check,
                          enum estimate_verdict verdict, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* Fits the moves. STATUS_E_NOMEM, STATUS_E_MATH as travel_time_fit(). */
MUST_USE enum status parameters_fit(const struct parameter_data *data,
                                    enum travel_method method, struct parameter_fit *fit);

/* Fits the moves and checks the fit; errors as above. */
MUST_USE enum status parameters_examine(const struct parameter_data *data,
                                        enum travel_method method, bool plausible,
                                        struct parameter_fit *fit,
                                        struct parameter_checks *checks);

/* Adds an empty candidate of this version and model (NULL: travel times); an older candidate
 * retires. */
struct parameter_set *parameters_add(struct parameter_book *book, const struct model *model,
                                     uint32_t version, int64_t t_us);

/* Describes the first failed check; "" if none failed. */
const char *parameters_first_failure(const struct parameter_checks *checks);

/* Adds a fit that passed (not FAIL) as the candidate; an older candidate retires. The simulator
 * gets the values unchanged. Returns the new set. */
struct parameter_set *parameters_propose(struct parameter_book *book,
                                         const struct parameter_data *data,
                                         const struct parameter_fit *fit,
                                         const struct parameter_checks *checks, int64_t t_us);

/* Activates a set; version 0: the candidate. NULL with *why if there is no such set, or it is
 * active already. */
const struct parameter_set *parameters_promote(struct parameter_book *book, uint32_t version,
                                               const char **why);

/* Activates the set that was active before this one. If there was none, *now is NULL, and the
 * simulator returns to its own parameters. False with *why if no set is active. */
bool parameters_rollback(struct parameter_book *book, const struct parameter_set **now,
                         const char **why);

/* Returns NULL if there is none. */
const struct parameter_set *parameters_find(const struct parameter_book *book,
                                            enum parameter_state state);

/* Returns NULL if no set has this version. */
struct parameter_set *parameters_find_version(struct parameter_book *book, uint32_t version);

/* Returns the candidate, or without one the active set, if a fit says nothing new about it: the
 * same verdict, all of value[count] within chance (|z| <= 3), and no error below half of the
 * set's. Otherwise NULL. */
const struct parameter_set *parameters_find_same(const struct parameter_book *book,
                                                 uint8_t verdict, const double *value,
                                                 const double *se, size_t count);

/* Returns why a candidate of a fit is not promoted without a request; differs: from what is in
 * force. NULL: it is promoted. */
const char *parameters_hold_back(const struct parameter_set *set, bool differs);
/* Returns the set of this version, version 0: the candidate; NULL: none. */
const struct parameter_set *parameters_choose(const struct parameter_book *book,
                                              uint32_t version);

/* Does it differ from the active set by more than chance (|z| > 3 in a term), or is none
 * active? se: errors that allow for effects that the fit did not find; NULL or NaN: its own. */
bool parameters_differ(const struct parameter_book *book, const struct parameter_set *set,
                       const double *se);

ENUM_NAMES_DECLARED(parameter_state);

/* Recorded changes of parameter sets, numbered per pair. */
enum parameter_action {
    PARAMETERS_PROPOSED, /* a fit became a candidate */
    PARAMETERS_REJECTED, /* a fit failed its checks */
    PARAMETERS_PROMOTED,
    PARAMETERS_ROLLED_BACK,
    PARAMETERS_DECLINED,        /* a request that could not be fulfilled */
    PARAMETERS_ACKNOWLEDGED,    /* the simulator applied it, or refused parts of it */
    PARAMETERS_VERSION_CHANGED, /* a robot runs another version of its program */
    PARAMETERS_ACTION_COUNT
};

struct parameter_change {
    uint64_t n; /* from 1 within the pair */
    int64_t t_us;
    enum parameter_action action;
    const char *by;     /* "auto", "http" … */
    const char *detail; /* description; "" if there is none */
    /* Versions of both robots' programs from now on; NULL or "": unknown. */
    const char *robot_version[SIDE_COUNT];
    const char *previous_version; /* of a robot whose version changed; else NULL */
    uint32_t version; /* version of the set; 0: the simulator's own parameters, or none */
    const struct parameter_set *set; /* NULL if version is 0 or unknown */
    const struct parameter_fit *fit; /* proposed and rejected only, like the checks */
    const struct parameter_checks *checks;
    /* For a model of dynamics, instead of fit. */
    const struct model *model;
    const struct dynamics_fit *dynamics;
};

ENUM_NAMES_DECLARED(parameter_action);

/* Writes the message to the simulator: the values of every set in force, with version and model
 * of the newest one; `adjust` has those known relatively. set NULL: version 0 without values,
 * "your own parameters". other: the set of another model that is also in force; NULL: none. */
void parameters_write_payload(struct json_writer *w, const struct parameter_set *set,
                              const struct parameter_set *other, bool adjust);

/* Returns "travel_time", or the model's name. */
const char *parameters_model_name(const struct parameter_set *set);

/* Returns the name of the j-th value, composed in text if necessary. */
const char *parameters_term_name(const struct parameter_set *set, size_t j, char text[64]);

#endif
