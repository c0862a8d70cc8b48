/* tests/test_backends_opencl.c – what the OpenCL back end asks of its library: events that others
 * wait for, and nothing left behind. Drivers that compute at once would not show a missing wait. */
#include "backends/opencl.h"
#include "tests/backends.h"

#include <stdio.h>

static struct opencl_functions real;
static int queues, events; /* created and not yet released */
static cl_event awaited;   /* by the last barrier, or call that waits for an event */

static cl_command_queue create_queue(cl_context context, cl_device_id device,
                                     cl_command_queue_properties properties, cl_int *code)
{
    queues++;
    return real.CreateCommandQueue(context, device, properties, code);
}

static cl_int release_queue(cl_command_queue queue)
{
    queues--;
    return real.ReleaseCommandQueue(queue);
}

static cl_int mark(cl_command_queue queue, cl_uint n, const cl_event *list, cl_event *event)
{
    events++;
    return real.EnqueueMarkerWithWaitList(queue, n, list, event);
}

static cl_int release_event(cl_event event)
{
    events--;
    return real.ReleaseEvent(event);
}

static cl_int bar(cl_command_queue queue, cl_uint n, const cl_event *list, cl_event *event)
{
    awaited = n ? *list : NULL;
    return real.EnqueueBarrierWithWaitList(queue, n, list, event);
}

static cl_int wait_for(cl_uint n, const cl_event *list)
{
    awaited = n ? *list : NULL;
    return real.WaitForEvents(n, list);
}

static void events_are_waited_for_and_released(void **state)
{
    enum { SLOT = 3 };
    real = opencl;
    opencl.CreateCommandQueue = create_queue;
    opencl.ReleaseCommandQueue = release_queue;
    opencl.EnqueueMarkerWithWaitList = mark;
    opencl.ReleaseEvent = release_event;
    opencl.EnqueueBarrierWithWaitList = bar;
    opencl.WaitForEvents = wait_for;
    struct backend *b = open_device("opencl", 0);
    const struct opencl_state *d = b->dev;
    for (int time = 0; time < 2; time++) {
        assert_int_equal(backend_record(b, BACKEND_COMPUTE, SLOT), EK_OK);
        awaited = NULL;
        assert_int_equal(backend_after(b, BACKEND_COPY, SLOT), EK_OK);
        assert_true(awaited && awaited == d->event[SLOT]);
        awaited = NULL;
        assert_int_equal(backend_reach(b, SLOT), EK_OK);
        assert_true(awaited && awaited == d->event[SLOT]);
    }
    assert_int_equal(events, 1);
    assert_int_equal(queues, BACKEND_QUEUES);
    backend_close(b);
    assert_int_equal(events, 0);
    assert_int_equal(queues, 0);
    opencl = real;
}

/* ---- single precision ---- */

static bool rounds; /* what the device says of its / and sqrt */
static char options[1024];

static cl_int device_info(cl_device_id id, cl_device_info what, size_t room, void *value,
                          size_t *size)
{
    const cl_int code = real.GetDeviceInfo(id, what, room, value, size);
    const cl_device_fp_config bit = CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    if (what == CL_DEVICE_SINGLE_FP_CONFIG)
        *(cl_device_fp_config *)value = rounds ? bit : ~bit;
    return code;
}

static cl_int build_program(cl_program program, cl_uint n, const cl_device_id *id, const char *said,
                            void(CL_CALLBACK *call)(cl_program, void *), void *arg)
{
    (void)call;
    (void)arg;
    snprintf(options, sizeof options, "%s", said);
    return real.BuildProgram(program, n, id, "", NULL, NULL);
}

/* NVIDIA's compiler otherwise computes (float)sqrt((double)x) three units in the last place off. */
static void single_precision_is_rounded_where_it_can_be(void **state)
{
    static const char text[] = "__kernel void nothing(__global float *x) { x[0] = sqrt(x[1]); }";
    real = opencl;
    opencl.GetDeviceInfo = device_info;
    opencl.BuildProgram = build_program;
    struct backend *b = open_device("opencl", 0);
    for (int can = 0; can < 2; can++) {
        struct backend_program *program;
        rounds = can;
        options[0] = '\0';
        assert_int_equal(b->ops->build(b->dev, text, can ? "-DCAN" : "-DCANNOT", 0, &program),
                         EK_OK);
        b->ops->unbuild(b->dev, program);
        assert_int_equal(!!strstr(options, " -cl-fp32-correctly-rounded-divide-sqrt "), can);
    }
    backend_close(b);
    opencl = real;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_waited_for_and_released),
        cmocka_unit_test(single_precision_is_rounded_where_it_can_be),
    };
    if (devices_of("opencl"))
        return cmocka_run_group_tests(tests, NULL, NULL);
    puts("no OpenCL device here");
    return 77;
}
