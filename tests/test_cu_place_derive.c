/* tests/test_cu_place_derive.c – places derived from layouts on various machines (hwloc's synthetic
 * topologies). */
#include "tests/places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static hwloc_topology_t machine(const char *synthetic)
{
    hwloc_topology_t t;
    assert_int_equal(topology_open(synthetic, &t), EK_OK);
    return t;
}

static struct place_list derive(hwloc_topology_t t, hwloc_const_bitmap_t allowed, const char *text,
                                const hwloc_const_bitmap_t *near)
{
    struct cu_layout layout;
    struct place_list list = {0}, again = {0};
    assert_int_equal(cu_layout_parse(text, &layout), EK_OK);
    assert_int_equal(
        place_derive(t, allowed ? allowed : hwloc_get_root_obj(t)->cpuset, &layout, near, &list),
        EK_OK);
    /* A restarted program will read the same places. */
    char *places = place_format(&list);
    assert_int_equal(place_parse(places, NULL, NULL, &again), EK_OK);
    assert_true(place_equal(&list, &again));
    free(places);
    place_free(&again);
    return list;
}

/* Units are as wide as the layout says, and no cpu is in two places. */
static void assert_disjoint(const struct place_list *list, const char *text)
{
    struct cu_layout layout;
    hwloc_bitmap_t all = hwloc_bitmap_alloc();
    int sum = 0;
    assert_int_equal(cu_layout_parse(text, &layout), EK_OK);
    assert_int_equal(place_check(list, &layout, "derived"), EK_OK);
    for (int i = 0; i < list->n; i++)
        sum += hwloc_bitmap_weight(list->cpus[i]);
    place_union(list, all);
    assert_int_equal(hwloc_bitmap_weight(all), sum);
    assert_int_equal(sum, cu_layout_threads(&layout));
    hwloc_bitmap_free(all);
}

/* Number of cores that the list uses, and the most cpus it uses on one core. */
static void count_cores(hwloc_topology_t t, const struct place_list *list, int *used, int *most)
{
    hwloc_bitmap_t all = hwloc_bitmap_alloc();
    place_union(list, all);
    *used = *most = 0;
    for (hwloc_obj_t c = NULL; (c = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_CORE, c));) {
        hwloc_bitmap_t here = hwloc_bitmap_dup(c->cpuset);
        hwloc_bitmap_and(here, here, all);
        int n = hwloc_bitmap_weight(here);
        *used += n > 0;
        *most = n > *most ? n : *most;
        hwloc_bitmap_free(here);
    }
    hwloc_bitmap_free(all);
}

/* Number of units that cross the border of an object of this type. */
static int straddlers(hwloc_topology_t t, const struct place_list *list, hwloc_obj_type_t type)
{
    int n = 0;
    for (int i = 0; i < list->n; i++) {
        int touched = 0;
        for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(t, type, o));)
            touched += hwloc_bitmap_intersects(o->cpuset, list->cpus[i]);
        n += touched > 1;
    }
    return n;
}

static void the_papers_layouts_anywhere(void **state)
{
    static const char *const machines[] = {
        "pack:2 core:64 pu:2",
        "pack:2 core:64 pu:2(indexes=pack:core:pu)",
        "pack:1 core:16 pu:1",
        "numa:8 l3:2 core:8 pu:2",
        "pack:2 numa:4 l3:4 core:4 pu:1",
        "pack:4 core:4 pu:4",
    };
    static const char *const layouts[] = {"1x2+4", "1x4+1", "4x2+1", "7x2+2", "3x4+4"};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        hwloc_topology_t t = machine(machines[m]);
        for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
            int used, most;
            struct place_list list = derive(t, NULL, layouts[l], NULL);
            assert_disjoint(&list, layouts[l]);
            count_cores(t, &list, &used, &most);
            assert_int_equal(most, 1); /* all these machines have at least 16 cores */
            assert_int_equal(straddlers(t, &list, HWLOC_OBJ_PACKAGE), 0);
            assert_int_equal(straddlers(t, &list, HWLOC_OBJ_NUMANODE), 0);
            place_free(&list);
        }
        topology_close(t);
    }
}

/* On 16 cpus without structure, the derived text is that of the papers. */
static void the_papers_texts(void **state)
{
    static const char *const rows[][2] = {
        {"1x2+4", "{0:2},{2}:4:1"},
        {"1x4+1", "{0:4},{4}"},
        {"4x2+1", "{0:2}:4:2,{8}"},
        {"7x2+2", "{0:2}:7:2,{14}:2:1"},
        {"3x4+4", "{0:4}:3:4,{12}:4:1"},
        {"3x4+2x2", "{0:4}:3:4,{12:2}:2:2"},
        {"0x0+1x4", "{0:4}"},
    };
    hwloc_topology_t t = machine("core:16 pu:1");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct place_list list = derive(t, NULL, rows[i][0], NULL);
        char *text = place_format(&list);
        assert_string_equal(text, rows[i][1]);
        free(text);
        place_free(&list);
    }
    topology_close(t);
}

static void random_layouts_are_disjoint(void **state)
{
    static const char *const machines[] = {"pack:2 core:64 pu:2", "numa:8 l3:2 core:4 pu:2",
                                           "pack:2 l3:4 core:3 pu:1", "pack:3 core:5 pu:4"};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        hwloc_topology_t t = machine(machines[m]);
        unsigned cpus = (unsigned)hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU);
        int cores = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE);
        for (int round = 0; round < 100; round++) {
            char text[64];
            unsigned width = 1 + any_below(12), most_units = cpus / width;
            unsigned units = 1 + any_below(most_units), left = cpus - units * width;
            int used, most, threads = (int)(units * width);
            unsigned feeders = 1 + any_below(3), devices = any_below(left / feeders + 1);
            snprintf(text, sizeof text, "%ux%u+%ux%u", units, width, devices, feeders);
            struct place_list list = derive(t, NULL, text, NULL);
            assert_disjoint(&list, text);
            /* No core gets two threads while another is idle. */
            count_cores(t, &list, &used, &most);
            threads += (int)(devices * feeders);
            assert_int_equal(used, threads < cores ? threads : cores);
            assert_true(most == (threads + cores - 1) / cores || threads > cores);
            place_free(&list);
        }
        topology_close(t);
    }
}

static void units_stay_within_a_node(void **state)
{
    static const struct {
        const char *machine, *layout;
        hwloc_obj_type_t within;
        int straddlers; /* the fewest possible */
    } cases[] = {
        {"numa:8 core:8 pu:2", "16x3", HWLOC_OBJ_NUMANODE, 0},
        {"numa:8 core:8 pu:2", "8x8", HWLOC_OBJ_NUMANODE, 0},
        {"numa:8 core:8 pu:2", "8x7+8", HWLOC_OBJ_NUMANODE, 0},
        {"numa:2 core:4 pu:1", "2x3", HWLOC_OBJ_NUMANODE, 0},
        {"numa:2 core:4 pu:1", "2x3+2", HWLOC_OBJ_NUMANODE, 0},
        {"numa:2 core:3 pu:1", "3x2", HWLOC_OBJ_NUMANODE, 1},
        {"numa:8 core:8 pu:2", "4x16", HWLOC_OBJ_PACKAGE, 0},
        {"numa:2 l3:4 core:4 pu:1", "8x4", HWLOC_OBJ_L3CACHE, 0},
        {"numa:2 l3:4 core:4 pu:1", "8x3+8", HWLOC_OBJ_L3CACHE, 0},
        {"numa:2 l3:4 core:3 pu:1", "8x2+2", HWLOC_OBJ_L3CACHE, 0},
        {"numa:2 l3:4 core:4 pu:1", "4x6", HWLOC_OBJ_NUMANODE, 0},
        {"pack:2 core:4 pu:2", "8x2", HWLOC_OBJ_CORE, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hwloc_topology_t t = machine(cases[i].machine);
        struct place_list list = derive(t, NULL, cases[i].layout, NULL);
        assert_disjoint(&list, cases[i].layout);
        int n = straddlers(t, &list, cases[i].within);
        if (n != cases[i].straddlers)
            fail_msg("%s on '%s': %d units straddle: %s", cases[i].layout, cases[i].machine, n,
                     as_text(&list));
        place_free(&list);
        topology_close(t);
    }
}

static void fast_cores_come_first(void **state)
{
    /* 8 slow cpus, numbers 0-7, then 8 fast ones, 8-15; cores have two each. */
    hwloc_topology_t t = machine("pack:1 core:8 pu:2");
    hwloc_bitmap_t slow = hwloc_bitmap_alloc(), fast = hwloc_bitmap_alloc();
    hwloc_bitmap_set_range(slow, 0, 7);
    hwloc_bitmap_set_range(fast, 8, 15);
    assert_int_equal(hwloc_cpukinds_register(t, slow, 0, 0, NULL, 0), 0);
    assert_int_equal(hwloc_cpukinds_register(t, fast, 1, 0, NULL, 0), 0);
    struct place_list list = derive(t, NULL, "2x2", NULL);
    assert_string_equal(as_text(&list), "8,10 12,14");
    place_free(&list);
    list = derive(t, NULL, "1x6", NULL); /* then slow cores, before second threads of fast ones */
    assert_string_equal(as_text(&list), "0,2,8,10,12,14");
    place_free(&list);
    list = derive(t, NULL, "4x1+1", NULL);
    assert_string_equal(as_text(&list), "8 10 12 14 0");
    place_free(&list);
    hwloc_bitmap_free(slow);
    hwloc_bitmap_free(fast);
    topology_close(t);
}

static void device_threads_sit_near_their_device(void **state)
{
    hwloc_topology_t t = machine("numa:4 core:8 pu:2");
    hwloc_const_bitmap_t near[4];
    for (int d = 0; d < 4; d++) /* device d is attached to node 3-d */
        near[d] = hwloc_get_obj_by_type(t, HWLOC_OBJ_NUMANODE, 3 - d)->cpuset;
    static const char *const layouts[] = {"4x7+4", "2x4+4", "28x1+4", "1x2+4", "4x8+4", "4x12+4"};
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
        struct place_list list = derive(t, NULL, layouts[l], near);
        assert_disjoint(&list, layouts[l]);
        for (int d = 0; d < 4; d++)
            assert_true(hwloc_bitmap_isincluded(list.cpus[list.n - 4 + d], near[d]));
        assert_int_equal(straddlers(t, &list, HWLOC_OBJ_NUMANODE), 0);
        place_free(&list);
    }
    topology_close(t);
}

/* The threads of a device have cpus near it; if nobody knows which are near, they are kept
 * together. */
static void who_feeds_a_device_sits_together(void **state)
{
    static const char *const layouts[] = {"4x5+4x3", "4x7+4x1", "1x2+4x8", "4x3+4x5", "4x9+4x7"};
    hwloc_topology_t t = machine("numa:4 core:8 pu:2");
    hwloc_const_bitmap_t near[4];
    for (int d = 0; d < 4; d++)
        near[d] = hwloc_get_obj_by_type(t, HWLOC_OBJ_NUMANODE, 3 - d)->cpuset;
    for (size_t l = 0; l < 2 * sizeof layouts / sizeof *layouts; l++) {
        const char *layout = layouts[l / 2];
        struct place_list list = derive(t, NULL, layout, l % 2 ? near : NULL);
        assert_disjoint(&list, layout);
        for (int d = 0; d < 4 && l % 2; d++)
            if (!hwloc_bitmap_isincluded(list.cpus[list.n - 4 + d], near[d]))
                fail_msg("%s: device %d is not near: %s", layout, d, as_text(&list));
        if (l % 2 || l < 4) /* if CPU units do not leave single cpus scattered */
            assert_int_equal(straddlers(t, &list, HWLOC_OBJ_NUMANODE), 0);
        place_free(&list);
    }
    topology_close(t);
    t = machine("pack:1 core:3 pu:1"); /* first cpus left over, then shared ones, none twice */
    struct place_list list = derive(t, NULL, "2x1+1x2", NULL);
    assert_string_equal(as_text(&list), "0 1 1-2");
    place_free(&list);
    list = derive(t, NULL, "1x1+1x9", NULL);
    assert_string_equal(as_text(&list), "0 0-2");
    place_free(&list);
    topology_close(t);
}

static void stays_on_allowed_cpus(void **state)
{
    hwloc_topology_t t = machine("pack:2 core:4 pu:2");
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc(), all = hwloc_bitmap_alloc();
    hwloc_bitmap_list_sscanf(allowed, "1,4-7,9,13");
    static const char *const layouts[] = {"3x1+2", "1x5", "2x2+1", "7x1", "2x3+1"};
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
        struct place_list list = derive(t, allowed, layouts[l], NULL);
        assert_disjoint(&list, layouts[l]);
        place_union(&list, all);
        assert_true(hwloc_bitmap_isincluded(all, allowed));
        place_free(&list);
    }
    hwloc_bitmap_free(allowed);
    hwloc_bitmap_free(all);
    topology_close(t);
}

static void more_threads_than_cpus_are_spread_evenly(void **state)
{
    static const struct {
        const char *layout;
        int most; /* most threads on one cpu, if each unit uses its whole place */
    } cases[] = {{"8x1", 2}, {"4x2", 2}, {"4x1+4", 2}, {"2x4", 2}, {"12x1", 3}, {"4x1+1", 2}};
    hwloc_topology_t t = machine("pack:1 core:4 pu:1");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct place_list list = derive(t, NULL, cases[i].layout, NULL);
        for (int cpu = 0, load; cpu < 4; cpu++) {
            load = 0;
            for (int u = 0; u < list.n; u++)
                load += hwloc_bitmap_isset(list.cpus[u], (unsigned)cpu);
            assert_in_range(load, 1, cases[i].most);
        }
        place_free(&list);
    }
    struct place_list wide = derive(t, NULL, "1x9", NULL); /* wider than the machine */
    assert_string_equal(as_text(&wide), "0-3");
    place_free(&wide);
    topology_close(t);
}

/* A machine from hwloc's XML with two packages and a GPU on the PCI bus of the second. */
static hwloc_topology_t machine_with_gpu(const char *pci)
{
    hwloc_topology_t plain = machine("pack:2 numa:1 core:2 pu:1"), t;
    char *xml, *text;
    int size;
    assert_int_equal(hwloc_topology_export_xmlbuffer(plain, &xml, &size, 0), 0);
    char *second = strstr(xml, "type=\"Package\"");
    assert_non_null(second);
    second = strstr(second + 1, "type=\"Package\"");
    assert_non_null(second);
    second = strstr(second, "<object type=\"Core\"");
    assert_non_null(second);
    assert_true(asprintf(&text,
                         "%.*s<object type=\"Bridge\" gp_index=\"900\" bridge_type=\"0-1\" "
                         "depth=\"0\" bridge_pci=\"0000:[80-ff]\"><object type=\"PCIDev\" "
                         "gp_index=\"901\" pci_busid=\"%s\" pci_type=\"0302 [10de:2330] "
                         "[0000:0000] a1\" pci_link_speed=\"0.0\"/></object>%s",
                         (int)(second - xml), xml, pci, second) > 0);
    hwloc_topology_init(&t);
    hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_ALL);
    assert_int_equal(hwloc_topology_set_xmlbuffer(t, text, (int)strlen(text) + 1), 0);
    assert_int_equal(hwloc_topology_load(t), 0);
    hwloc_free_xmlbuffer(plain, xml);
    topology_close(plain);
    free(text);
    return t;
}

static void a_pci_address_tells_what_is_near(void **state)
{
    char text[64];
    hwloc_topology_t t = machine_with_gpu("0000:81:00.0");
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    assert_true(topology_near(t, "0000:81:00.0", cpus));
    assert_string_equal(topology_list(cpus, text, sizeof text), "2-3");
    assert_false(topology_near(t, "0000:82:00.0", cpus));
    assert_false(topology_near(t, "", cpus));
    assert_false(topology_near(t, "nonsense", cpus));
    hwloc_bitmap_free(cpus);
    topology_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_layouts_anywhere),
        cmocka_unit_test(the_papers_texts),
        cmocka_unit_test(random_layouts_are_disjoint),
        cmocka_unit_test(units_stay_within_a_node),
        cmocka_unit_test(fast_cores_come_first),
        cmocka_unit_test(a_pci_address_tells_what_is_near),
        cmocka_unit_test(device_threads_sit_near_their_device),
        cmocka_unit_test(who_feeds_a_device_sits_together),
        cmocka_unit_test(stays_on_allowed_cpus),
        cmocka_unit_test(more_threads_than_cpus_are_spread_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
