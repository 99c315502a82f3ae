/* twin/pair/parameters.h - parameter sets of a pair: from a fit to the simulator, and back.
 *
 *     fit --checks--> candidate --promote--> active --promote another--> retired
 *                                              ^------- rollback ----------'
 *
 * A fit of the real robot's travel times, or of its dynamics, becomes a candidate only if its
 * checks pass; a candidate becomes active by hand or by itself, is published to the simulator,
 * and can be rolled back to the set that was active before. Sets are numbered per pair and
 * never changed. docs/model/parameters.md. Plain data without pointers. Pure but for GSL's
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
    uint32_t version; /* 1, 2 … in the pair; 0: an empty place */
    uint8_t state;    /* enum parameter_state */
    uint8_t method;   /* enum travel_method; of a model of dynamics, enum dynamics_method */
    uint8_t verdict;  /* enum estimate_verdict of its checks */
    uint8_t model;    /* 0: travel times; else 1 + place as of model_at() */
    uint8_t count;    /* of values */
    uint8_t refined;  /* so many sets in a row only mended how the simulator takes them */
    bool commanded;   /* of travel times: those of an arm */
    uint16_t n;       /* moves, or samples (at most 65535) */
    int64_t made_us;
    int64_t since_us, until_us; /* of the moves it rests on */
    uint64_t data_hash;         /* of those moves */
    uint64_t order;             /* when it was last promoted; 0: never */
    /* Of travel times as of parameter_terms_of(commanded); of a model its parameters, then a
     * constant effort per axis where they were fitted; NaN: unknown. */
    double value[DYNAMICS_P_MAX], se[DYNAMICS_P_MAX]; /* [count] */
    struct parameter_sent sent; /* of travel times: what the simulator is asked for */
};

struct parameter_book { /* all zero is empty */
    uint32_t last_version;
    uint64_t promotions;
    struct parameter_set set[PARAMETERS_RETAINED];
};

/* What a fit must stand before it becomes a candidate. */
enum parameter_check {
    CHECK_EXCITATION, /* the data determine the parameters */
    CHECK_SIGNS,      /* they are possible ones */
    CHECK_PRECISION,  /* known well enough */
    CHECK_HELD_OUT,   /* the older data foretell the newer */
    CHECK_FIT,        /* the fit's own verdict */
    PARAMETERS_CHECKS
};

struct parameter_checks {          /* all zero is that all passed */
    enum estimate_verdict verdict; /* the worst */
    struct {
        enum estimate_verdict verdict;
        char detail[PARAMETERS_DETAIL_MAX];
    } check[PARAMETERS_CHECKS];
};

/* The moves of one side, oldest first. */
struct parameter_data {
    const struct travel_move *moves;      /* [n] */
    const struct profile_move *commanded; /* [n], in their place: of an arm; else NULL */
    size_t n;
    int64_t since_us, until_us;
    enum travel_motion motion; /* what its moves can be */
};

/* What they tell. */
struct parameter_fit {
    bool commanded; /* of an arm */
    union {
        struct travel_fit travel;
        struct profile_fit profile;
    };
};

/* The fit without what it is of. */
const struct estimate *parameter_fit_estimate(const struct parameter_fit *fit);

/* Are there moves enough of a class of an arm's to take anything of it? */
bool parameter_fit_asks(const struct profile_fit *fit, enum profile_class kind);

/* What a set takes of it, value and se [count] of its terms; NaN: not known, or of too few
 * moves of their class. widened: the error that a normal quantile makes the fit's own interval
 * of, wider than se where few moves tell the noise, NaN where too few do. */
void parameter_fit_terms(const struct parameter_fit *fit, bool widened, double *value,
                         double *se);

extern const struct names parameter_check_names;
const char *parameter_check_name(enum parameter_check check);

/* Write down what became of one check. */
void parameters_add_check(struct parameter_checks *checks, enum parameter_check check,
                          enum estimate_verdict verdict, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* Fit the moves. STATUS_E_NOMEM, STATUS_E_MATH as of travel_time_fit(). */
MUST_USE enum status parameters_fit(const struct parameter_data *data,
                                    enum travel_method method, struct parameter_fit *fit);

/* Fit the moves and check the fit; errors as above. */
MUST_USE enum status parameters_examine(const struct parameter_data *data,
                                        enum travel_method method, bool plausible,
                                        struct parameter_fit *fit,
                                        struct parameter_checks *checks);

/* An empty candidate of this version in the book, of this model (NULL: travel times); an older
 * candidate retires. */
struct parameter_set *parameters_add(struct parameter_book *book, const struct model *model,
                                     uint32_t version, int64_t t_us);

/* The first check that failed, in words; "" when none did. */
const char *parameters_first_failure(const struct parameter_checks *checks);

/* Put a fit that passed (not FAIL) into the book as the candidate; an older candidate retires.
 * The simulator is told the values as they are. Returns the new set. */
struct parameter_set *parameters_propose(struct parameter_book *book,
                                         const struct parameter_data *data,
                                         const struct parameter_fit *fit,
                                         const struct parameter_checks *checks, int64_t t_us);

/* Make a set active; version 0: the candidate. NULL with *why when there is no such set, or it
 * is active already. */
const struct parameter_set *parameters_promote(struct parameter_book *book, uint32_t version,
                                               const char **why);

/* Make the set active that was active before this one; *now is NULL when none was, and the
 * simulator goes back to its own parameters. False with *why when no set is active. */
bool parameters_rollback(struct parameter_book *book, const struct parameter_set **now,
                         const char **why);

/* NULL when there is none. */
const struct parameter_set *parameters_find(const struct parameter_book *book,
                                            enum parameter_state state);

/* NULL when none has this version. */
struct parameter_set *parameters_find_version(struct parameter_book *book, uint32_t version);

/* Does it differ from the active set by more than chance (|z| > 3 in a term), or is none
 * active? */
bool parameters_differ(const struct parameter_book *book, const struct parameter_set *set);

extern const struct names parameter_state_names;
const char *parameter_state_name(enum parameter_state state);

/* What became of a parameter set, for the record. Numbered per pair. */
enum parameter_action {
    PARAMETERS_PROPOSED, /* a fit became a candidate */
    PARAMETERS_REJECTED, /* a fit failed its checks */
    PARAMETERS_PROMOTED,
    PARAMETERS_ROLLED_BACK,
    PARAMETERS_DECLINED,     /* a wish that could not be fulfilled */
    PARAMETERS_ACKNOWLEDGED, /* the simulator applied it, or refused parts of it */
    PARAMETERS_ACTION_COUNT
};

struct parameter_change {
    uint64_t n; /* from 1 in the pair */
    int64_t t_us;
    enum parameter_action action;
    const char *by;                  /* "auto", "http" … */
    const char *detail;              /* in words; "" when there is nothing to say */
    uint32_t version;                /* concerned; 0: the simulator's own parameters, or none */
    const struct parameter_set *set; /* NULL when version is 0 or not known */
    const struct parameter_fit *fit; /* proposed and rejected only, as the checks */
    const struct parameter_checks *checks;
    /* Of a model of dynamics, in the place of fit. */
    const struct model *model;
    const struct dynamics_fit *dynamics;
};

extern const struct names parameter_action_names;
const char *parameter_action_name(enum parameter_action action);

/* What goes to the simulator: the values of every set in force, its version and model those of
 * the newest one, and with `adjust` what of it is known relatively. set NULL: version 0 without
 * values, "your own parameters". other: the set of another model that is in force beside it;
 * NULL: none. */
void parameters_write_payload(struct json_writer *w, const struct parameter_set *set,
                              const struct parameter_set *other, bool adjust);

/* "travel_time", or the model's name. */
const char *parameters_model_name(const struct parameter_set *set);

/* Name of the j-th value, made in text where it has to be. */
const char *parameters_term_name(const struct parameter_set *set, size_t j, char text[64]);

#endif
