/* okada_mogi/search_device.c – searches on devices. */
#include "okada_mogi/search_method.h"

enum ek_status search_device_open(const struct search *s, struct backend *backend,
                                  struct search_device **d)
{
    (void)d;
    FAIL(EK_LACK, "%s: searches do not run on %s; leave the device out of the layout", s->job->path,
         backend->label);
}
void search_device_close(struct search_device *d)
{
    (void)d;
}
enum ek_status search_device_run(struct search_device *d, struct trial_range range,
                                 struct accepted *found)
{
    (void)d, (void)range, (void)found;
    FAIL(EK_LACK, "no device");
}
double search_device_evaluations(const struct search_device *d)
{
    (void)d;
    return 0;
}
