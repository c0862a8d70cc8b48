/* okada_mogi/methods.c – the models and search methods of one instruction level. */
#include "okada_mogi/search_method.h"

#define MODEL(symbol) extern const struct model model_##symbol;
#include "okada_mogi/model_list.h"
#undef MODEL

const struct model *model_at(int i)
{
#define MODEL(symbol) &model_##symbol,
    static const struct model *const models[] = {
#include "okada_mogi/model_list.h"
    };
#undef MODEL
    return i >= 0 && i < (int)(sizeof models / sizeof *models) ? models[i] : NULL;
}

const struct search_method_ops *search_method_at(enum search_method_number i)
{
    static const struct search_method_ops *const methods[] = {[METHOD_BRUTE] = &search_brute,
                                                              [METHOD_SINGLE] = &search_single,
                                                              [METHOD_JOIN] = &search_join};
    return methods[i];
}
