/* Every machine of the product: well formed, found by name, with a picture that Graphviz
 * accepts. */
#include "tests/support/check.h"
#include "tests/support/efsm_check.h"

#include "twin/machines.h"

enum { DOT_MAX = 65536 };

static void test_tables(void)
{
    CHECK("some", machine_count > 0);
    for (size_t i = 0; i < machine_count; i++) {
        const char *name = machines[i]->name;
        const char *wrong = efsm_check_table(machines[i]);
        CHECK_TEXT(name, wrong ? wrong : "", "");
        CHECK(name, machine_find(name) == machines[i]); /* so names are unique */
    }
}

static void test_find(void)
{
    CHECK("any case", machine_find("eXECUTIVE") == &efsm_executive_table);
    CHECK("beginning only", machine_find("Exec") == NULL);
    CHECK("longer", machine_find("Executives") == NULL);
    CHECK("empty", machine_find("") == NULL);
}

static void test_graphviz(void)
{
    static char text[DOT_MAX];

    if (system("command -v dot >/dev/null 2>&1") != 0) {
        (void)printf("no Graphviz here: the pictures are not checked\n");
        return;
    }
    for (size_t i = 0; i < machine_count; i++) {
        for (int lit = -1; lit < 1; lit++) {
            CHECK(machines[i]->name, efsm_dot(machines[i], lit, text, sizeof text) < DOT_MAX);
            FILE *dot = popen("dot -Tsvg >/dev/null", "w");
            CU_ASSERT_PTR_NOT_NULL_FATAL(dot);
            (void)fputs(text, dot);
            CHECK_INT(machines[i]->name, pclose(dot), 0);
        }
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("machines", NULL, NULL);
    CU_ADD_TEST(suite, test_tables);
    CU_ADD_TEST(suite, test_find);
    CU_ADD_TEST(suite, test_graphviz);
    return check_run();
}
