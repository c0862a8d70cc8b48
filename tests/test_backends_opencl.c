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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(events_are_waited_for_and_released)};
    if (devices_of("opencl"))
        return cmocka_run_group_tests(tests, NULL, NULL);
    puts("no OpenCL device here");
    return 77;
}
