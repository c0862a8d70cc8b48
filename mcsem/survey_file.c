/* mcsem/survey_file.c – selects the format of a survey's file. */
#include "mcsem/survey_file.h"
#include "mcsem/emdata.h"
#include "mcsem/read_model.h"
#include "mcsem/seabed.h"
#include "src/arena.h"
#include "src/file.h"

#include <string.h>

enum ek_status survey_file_read(const char *path, const struct survey_file_earth *options,
                                const struct survey_noise *noise, struct survey **survey,
                                struct earth **earth)
{
    struct earth_list list = earth_list_defaults;
    struct survey *s;
    TRY(emdata_is(path) ? read_emdata(path, noise, &s, &list) : read_csv(path, noise, &s, &list));
    enum ek_status st = EK_OK;
    const char *model =
        options && options->keys && !strchr(options->keys, '=') ? options->keys : NULL;
    if (model)
        st = read_model_grid(model, &list);
    else if (options && options->keys)
        st = earth_list_read("--earth", options->keys, &list);
    if (!st && options && options->sea)
        st = earth_list_read_sea("--sea", options->sea, &list);
    struct earth *e = NULL;
    THEN(st, earth_list_open(path, &list, &e));
    if (!st && model)
        st = read_model(model, e);
    if (!st)
        st = seabed_set(path,
                        options && options->floor ? options->floor
                        : *list.floor             ? list.floor
                                                  : NULL,
                        list.seabed > 0, s, e);
    if (!st)
        st = earth_check(e, path);
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
