/* okada_mogi/model_list.h – the models. One line each: MODEL(symbol) names
 * `const struct model model_<symbol>`. */
MODEL(okada)
MODEL(mogi)
