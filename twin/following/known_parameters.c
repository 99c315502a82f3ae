#include "twin/following/known_parameters.h"

#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"

ENUM_NAMES(following_source, FOLLOWING_SET_PARTLY + 1, "unknown", "lab_file", "fit", "set",
           "set_partly");

void known_parameters_init(struct known_parameters *k, const struct pair_following_params *p)
{
    memset(k, 0, sizeof *k);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        if (p->known[s]) {
            k->side[s].source = FOLLOWING_LAB_FILE;
            memcpy(k->side[s].theta, p->theta[s], sizeof k->side[s].theta);
        }
    }
    k->own = k->side[SIDE_VIRTUAL];
}

static void set_theta(struct known_theta *known, const struct model *model, const double *theta,
                      enum following_source source)
{
    if (model_unphysical(model, theta) < 0) {
        memcpy(known->theta, theta, model->parameter_count * sizeof theta[0]);
        known->source = source;
    }
}

/* The result of a fit is valid until a better fit replaces it. */
void known_parameters_fit(struct known_parameters *k, const struct model *model,
                          const struct pair_dynamics *d)
{
    for (enum side s = SIDE_REAL; s < SIDE_COUNT && d; s++) {
        const struct dynamics_side *side = &d->side[s];
        const double *theta = side->result.fit.estimate.value;
        if (!side->fitted || side->result.checks.verdict == ESTIMATE_FAIL) {
            continue;
        }
        if (s == SIDE_REAL) {
            set_theta(&k->side[s], model, theta, FOLLOWING_FIT);
        } else if (k->set == 0 && side->result_job != k->other_job) {
            set_theta(&k->own, model, theta, FOLLOWING_FIT);
            k->own_job = side->result_job;
        }
    }
    if (k->set == 0) {
        k->side[SIDE_VIRTUAL] = k->own;
    }
}

/* The previous parameters, with those of the set that were applied. */
static void apply_set(struct known_parameters *k, const struct model *model,
                      const double *value)
{
    const uint32_t all = (UINT32_C(1) << model->parameter_count) - 1;
    double theta[MODEL_PARAMETERS_MAX];
    for (size_t i = 0; i < model->parameter_count; i++) {
        theta[i] = (k->applied >> i) & 1 ? value[i] : k->before.theta[i];
    }
    if (k->applied == all) {
        set_theta(&k->side[SIDE_VIRTUAL], model, theta, FOLLOWING_SET);
    } else if (k->applied == 0 || k->before.source == FOLLOWING_NOWHERE) {
        k->side[SIDE_VIRTUAL] = k->before;
    } else {
        set_theta(&k->side[SIDE_VIRTUAL], model, theta, FOLLOWING_SET_PARTLY);
    }
}

static uint32_t find_applied(const struct model *model, const struct event_ack *ack)
{
    uint32_t applied = 0;
    for (size_t i = 0; i < model->parameter_count; i++) {
        const uint64_t name = hash_text(model->parameters[i].name);
        for (size_t j = 0; j < ack->applied && j < EVENT_APPLIED_MAX; j++) {
            applied |= (uint32_t)(ack->applied_hash[j] == name) << i;
        }
    }
    return applied;
}

void known_parameters_acknowledge(struct known_parameters *k, const struct model *model,
                                  const struct pair_dynamics *d, const struct event_ack *ack)
{
    const struct parameter_set *set = parameters_find(&d->sets, PARAMETERS_ACTIVE);
    if (set) {
        if (k->set != set->version) {
            k->before = k->side[SIDE_VIRTUAL];
            k->set = set->version;
        }
        k->applied = find_applied(model, ack);
        apply_set(k, model, set->value);
    } else if (k->set != 0) { /* fits under the set were of another robot */
        const uint32_t job = d->side[SIDE_VIRTUAL].result_job;
        k->other_job = job != k->own_job ? job : 0;
        k->set = 0;
    }
}

void known_parameters_restart(struct known_parameters *k, const struct model *model)
{
    const struct known_theta as_sent = k->side[SIDE_VIRTUAL];
    if (k->set != 0) {
        k->before = k->own;
        apply_set(k, model, as_sent.theta);
    }
}

void known_parameters_obstacle(const struct known_parameters *k, const struct pair_dynamics *d,
                               enum side side, char *text, size_t size)
{
    const char *name = side_name(side);
    const struct dynamics_side *learnt = d ? &d->side[side] : NULL;
    if (side == SIDE_VIRTUAL && k->set != 0) {
        (void)snprintf(text, size,
                       "the virtual robot refused parameters of version %u, and its own are "
                       "not known: roll back and identify it, or give following.virtual",
                       k->set);
    } else if (learnt && learnt->fitted && learnt->result.checks.verdict == ESTIMATE_FAIL) {
        (void)snprintf(text, size,
                       "the fit of the %s robot failed its checks (%.100s): drive it in more "
                       "ways, or give following.%s",
                       name, parameters_first_failure(&learnt->result.checks), name);
    } else {
        (void)snprintf(text, size,
                       "the parameters of the %s robot are not known: identify it, or give "
                       "following.%s",
                       name, name);
    }
}
