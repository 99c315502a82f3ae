/* Differences of times between recordings of different moves. Expected values come from an
 * independent program (numpy, scipy). */
#include "tests/support/check.h"

#include "identification/numeric/same_moves.h"

enum { MANY = 200 };

struct sample {
    double a[MANY], r[MANY], t[MANY];
};

static struct moves_sample fill_sample(struct sample *s, size_t n, double scale, double offset)
{
    for (size_t i = 0; i < n; i++) {
        s->a[i] = i % 3 == 1 ? 0 : .3 + (double)(i * 7 % 11) * .25 * scale;
        s->r[i] = i % 3 == 0 ? 0 : .1 + (double)(i * 5 % 13) * .1 * scale;
        s->t[i] = .02 + .03 * s->a[i] - .05 * s->r[i] + .01 * sin((double)i * 1.7) + offset;
    }
    return (struct moves_sample){s->a, s->r, s->t, n};
}

static struct sample one, two;

static void test_known(void)
{
    static const struct {
        size_t n_a, n_b;
        double value, lo, hi;
    } rows[] = {{12, 12, 0.026630659368106463, 0.013976437254935402, 0.039284881481277525},
                {40, 60, 0.02850149791864016, 0.024892050565153027, 0.032110945272127295},
                {200, 30, 0.027545023055330176, 0.021671495710088164, 0.03341855040057219}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct moves_sample a = fill_sample(&one, rows[i].n_a, 1.0, 0.0);
        const struct moves_sample b = fill_sample(&two, rows[i].n_b, 0.5, 0.03);
        double value = 0;
        double lo = 0;
        double hi = 0;
        double back = 0;
        CHECK("known", same_moves_difference(&a, &b, 0.95, &value, &lo, &hi));
        CHECK_NEAR("moves", value, rows[i].value, 0, 1e-10);
        CHECK_NEAR("moves", lo, rows[i].lo, 0, 1e-10);
        CHECK_NEAR("moves", hi, rows[i].hi, 0, 1e-10);
        CHECK("known", same_moves_difference(&b, &a, 0.95, &back, &lo, &hi));
        CHECK("the mirror is exact", !(fabs(back + value) > 0.0));
    }
}

/* Too few moves, and moves of one kind, give no difference; sizes a millionth apart do. */
static void test_unknown(void)
{
    double value = 0;
    double lo = 0;
    double hi = 0;
    struct moves_sample a = fill_sample(&one, 40, 1.0, 0.0);
    struct moves_sample b = fill_sample(&two, 11, 1.0, 0.0);
    CHECK("11 moves", !same_moves_difference(&a, &b, 0.95, &value, &lo, &hi));
    b = fill_sample(&two, 12, 1.0, 0.0);
    CHECK("12 moves", same_moves_difference(&a, &b, 0.95, &value, &lo, &hi));
    b = fill_sample(&two, 40, 1.0, 0.0);
    for (size_t i = 0; i < 40; i++) {
        two.a[i] = two.a[i] > 0.0 ? 1.0 : 0.0;
    }
    CHECK("turns of one size", !same_moves_difference(&a, &b, 0.95, &value, &lo, &hi));
    for (size_t i = 0; i < 40; i++) {
        two.a[i] += two.a[i] > 0.0 ? 1e-6 * (double)(i % 2) : 0.0;
    }
    CHECK("turns of two sizes", same_moves_difference(&a, &b, 0.95, &value, &lo, &hi));
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("same_moves", NULL, NULL);
    CU_ADD_TEST(suite, test_known);
    CU_ADD_TEST(suite, test_unknown);
    return check_run();
}
