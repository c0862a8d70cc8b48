/* mcsem/survey_file.c – selects the format of a survey's file. */
#include "mcsem/survey_file.h"
#include "mcsem/emdata.h"
#include "mcsem/read_model.h"
#include "mcsem/seabed.h"
#include "src/file.h"

enum ek_status survey_file_read(const char *path, const struct survey_file_earth *options,
                                const struct survey_noise *noise, struct survey **survey,
                                struct earth **earth)
{
    static const struct survey_file_earth none = {0};
    const struct survey_file_earth *o = options ? options : &none;
    const char *model = o->keys && !strchr(o->keys, '=') ? o->keys : NULL;
    struct earth_list list = earth_list_defaults;
    struct survey *s;
    struct earth *e = NULL;
    TRY(emdata_is(path) ? read_emdata(path, noise, &s, &list) : read_csv(path, noise, &s, &list));
    enum ek_status st = model     ? read_model_grid(model, &list)
                        : o->keys ? earth_list_read("--earth", o->keys, &list)
                                  : EK_OK;
    if (!st && o->sea)
        st = earth_list_read_sea("--sea", o->sea, &list);
    THEN(st, earth_list_open(path, &list, &e));
    if (!st && o->vertical)
        earth_add_vertical(e);
    if (!st && model)
        st = read_model(model, e);
    THEN(st, seabed_set(path,
                        o->floor      ? o->floor
                        : *list.floor ? list.floor
                                      : NULL,
                        list.seabed > 0, s, e));
    THEN(st, earth_check(e, path));
    if (st)
        earth_close(e);
    else
        *earth = e;
    return HAND_OUT(st, s, survey, survey_close);
}

enum ek_status survey_file_write(const char *path, const struct survey *survey,
                                 const struct earth *earth)
{
    return (file_ends_in(path, ".emdata") ? write_emdata : write_csv)(path, survey, earth);
}
