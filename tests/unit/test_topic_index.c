/* Every filter that a topic fits is found, and few others; one that finds no room is still
 * served. */
#include "tests/support/check.h"

#include "base/numbers/random.h"
#include "logger/codec/topic_index.h"

enum { FILTERS = 400, FILTER_MAX = 128 };

/* MQTT 5.0, 4.7: level by level; "#" fits its parent, too. */
static bool matches_filter(const char *filter, const char *topic)
{
    for (;;) {
        const size_t n = strcspn(filter, "/");
        const size_t m = topic ? strcspn(topic, "/") : 0;
        if (n == 1 && *filter == '#') {
            return true;
        }
        if (!topic ||
            (!(n == 1 && *filter == '+') && (n != m || memcmp(filter, topic, n) != 0))) {
            return false;
        }
        topic = topic[m] ? topic + m + 1 : NULL;
        if (!filter[n]) {
            return !topic;
        }
        filter += n + 1;
    }
}

static void draw_levels(struct random_source *r, bool filter, char out[FILTER_MAX])
{
    static const char *const words[] = {"a", "b", "real", "virtual", "", "state", "r1", "r2"};
    const size_t count = 1 + (size_t)(random_uniform(r) * 5);
    out[0] = '\0';
    for (size_t k = 0; k < count; k++) {
        const double u = random_uniform(r);
        const char *word = words[(size_t)(random_uniform(r) * 8)];
        const bool last = k + 1 == count;
        word = filter && u < 0.2 ? "+" : filter && last && u < 0.3 ? "#" : word;
        (void)snprintf(out + strlen(out), FILTER_MAX - strlen(out), "%s%s", k > 0 ? "/" : "",
                       word);
    }
}

static bool is_hit(const struct topic_hits *hits, uint32_t whose)
{
    for (size_t k = 0; k < hits->count; k++) {
        if (hits->whose[k] == whose) {
            return true;
        }
    }
    return false;
}

static void test_any(void)
{
    static char filters[FILTERS][FILTER_MAX];
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct random_source r = random_stream(seed, 0);
        const size_t count = 1 + (size_t)(random_uniform(&r) * FILTERS);
        const uint32_t owners = 1 + (uint32_t)(random_uniform(&r) * (seed % 2 ? 400 : 60));
        struct topic_index *index = topic_index_init(malloc(topic_index_bytes(count)), count);
        for (size_t i = 0; i < count; i++) {
            draw_levels(&r, true, filters[i]);
            topic_index_add(index, filters[i], (uint32_t)i % owners);
        }
        for (int t = 0; t < 300; t++) {
            char topic[FILTER_MAX];
            struct topic_hits hits;
            draw_levels(&r, false, topic);
            if (!topic_index_find(index, topic, &hits)) {
                continue;
            }
            size_t more = hits.count;
            for (uint32_t w = 0; w < owners; w++) {
                bool wanted = false;
                for (size_t i = w; i < count && !wanted; i += owners) {
                    wanted = matches_filter(filters[i], topic);
                }
                CHECK(topic, !wanted || is_hit(&hits, w));
                more -= wanted;
            }
            CHECK_INT("no other filter, but for chance", more, 0);
            for (size_t k = 1; k < hits.count; k++) {
                CHECK("rising", hits.whose[k - 1] < hits.whose[k]);
            }
        }
        free(index);
    }
}

static void test_room(void)
{
    struct topic_index *index = topic_index_init(malloc(topic_index_bytes(1000)), 1000);
    struct topic_hits hits;
    for (uint32_t k = 0; k < TOPIC_HITS_MAX; k++) {
        topic_index_add(index, "all/+", k);
        topic_index_add(index, "all/+", k); /* again */
    }
    CHECK("as many as there is room for", topic_index_find(index, "all/x", &hits));
    CHECK_INT("hits", hits.count, TOPIC_HITS_MAX);
    for (uint32_t k = TOPIC_HITS_MAX; k < 900; k++) {
        topic_index_add(index, "all/+", k);
    }
    CHECK("more: anybody's", !topic_index_find(index, "all/x", &hits));
    CHECK("no filter for another topic",
          topic_index_find(index, "none/x", &hits) && hits.count == 0);
    char deep[FILTER_MAX] = "a";
    for (int k = 0; k < TOPIC_LEVELS_MAX; k++) {
        (void)snprintf(deep + strlen(deep), sizeof deep - strlen(deep), "/a");
    }
    topic_index_add(index, "#", 7);
    CHECK("a deep topic",
          topic_index_find(index, deep, &hits) && hits.count == 1 && hits.whose[0] == 7);
    topic_index_add(index, deep, 1);
    CHECK("a deep filter: anybody's", !topic_index_find(index, "none/x", &hits));
    free(index);
}

/* More shapes than there is room for. */
static void test_shapes(void)
{
    struct topic_index *index = topic_index_init(malloc(topic_index_bytes(64)), 64);
    struct topic_hits hits;
    for (uint32_t k = 0; k < 64; k++) {
        char filter[FILTER_MAX] = "";
        for (uint32_t bit = 0; bit < 6; bit++) {
            (void)snprintf(filter + strlen(filter), sizeof filter - strlen(filter), "%s%s",
                           bit > 0 ? "/" : "", k >> bit & 1U ? "w" : "+");
        }
        topic_index_add(index, filter, k);
        CHECK("all of them, or anybody",
              !topic_index_find(index, "w/w/w/w/w/w", &hits) || hits.count == k + 1);
    }
    CHECK("too many shapes", !topic_index_find(index, "x", &hits));
    free(index);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("topic_index", NULL, NULL);
    CU_add_test(suite, "any filters", test_any);
    CU_add_test(suite, "room", test_room);
    CU_add_test(suite, "shapes", test_shapes);
    return check_run();
}
