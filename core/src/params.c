/* Parameters: text in, values that the backend declared out. */
#include "internal.h"
#include "number/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const attn_ext_params_t *declared(const attn_backend_t *backend) {
    if (ATTN_SMALL || !backend || !backend->get_extension) return NULL; /* small: none has any */
    return backend->get_extension(ATTN_EXT_PARAMS);
}

const attn_param_info_t *attn_backend_params(const attn_backend_t *backend, uint32_t *count) {
    const attn_ext_params_t *params = declared(backend);
    if (count) *count = params ? params->count : 0;
    return params && params->count ? params->params : NULL;
}

static attn_status_t read_choice(const attn_param_info_t *info, const char *text,
                                 attn_value_t *value, attn_error_t *error) {
    char names[160] = "";
    for (int64_t i = 0; info->choices[i]; i++) {
        if (strcmp(info->choices[i], text) == 0) {
            value->integer = i;
            return ATTN_OK;
        }
        attn_list_name(names, sizeof names, info->choices[i]);
    }
    return attn_fail(error, ATTN_ERROR_RANGE, "parameter '%s': '%.30s' is not one of %s",
                     info->name, text, names);
}

static attn_status_t read_number(const attn_param_info_t *info, const char *text,
                                 attn_value_t *value, attn_error_t *error) {
    const bool whole = info->type != ATTN_PARAM_NUMBER;
    const char *end;
    if (info->type == ATTN_PARAM_BOOLEAN && strcmp(text, "true") == 0) text = "1";
    if (info->type == ATTN_PARAM_BOOLEAN && strcmp(text, "false") == 0) text = "0";
    double number = attn_number_read(text, &end);
    if (end == text || *end || isnan(number))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "parameter '%s': '%.60s' is not a number",
                         info->name, text);
    if (number < info->minimum || number > info->maximum) {
        char low[32], high[32];
        return attn_fail(error, ATTN_ERROR_RANGE, "parameter '%s': %.40s is outside %s..%s",
                         info->name, text, attn_number_text(info->minimum, low),
                         attn_number_text(info->maximum, high));
    }
    if (whole && number != floor(number))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "parameter '%s': %.40s is not a whole number",
                         info->name, text);
    if (whole)
        value->integer = (int64_t)number;
    else
        value->number = number;
    return ATTN_OK;
}

static const attn_param_info_t *find(const attn_ext_params_t *params, const char *name,
                                     uint32_t *index) {
    for (uint32_t i = 0; params && i < params->count; i++)
        if (strcmp(params->params[i].name, name) == 0) {
            *index = i;
            return &params->params[i];
        }
    return NULL;
}

static attn_status_t refuse_name(const attn_backend_t *backend, const attn_ext_params_t *known,
                                 const char *name, attn_error_t *error) {
    char names[128] = "";
    for (uint32_t i = 0; known && i < known->count; i++)
        attn_list_name(names, sizeof names, known->params[i].name);
    return attn_fail(error, ATTN_ERROR_NOT_FOUND, "backend '%.30s' has no parameter '%.30s' (%s%s)",
                     backend->id, name, *names ? "there are " : "it has none", names);
}

attn_status_t attn_params_read(const attn_backend_t *backend, const attn_param_t *params,
                               uint32_t count, attn_value_t *values, attn_error_t *error) {
    const attn_ext_params_t *known = declared(backend);
    for (uint32_t i = 0; known && i < known->count; i++) {
        const attn_param_info_t *info = &known->params[i];
        if (info->type == ATTN_PARAM_NUMBER)
            values[i].number = info->initial;
        else
            values[i].integer = (int64_t)info->initial;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = 0;
        if (!params[i].name || !params[i].value)
            return attn_fail(error, ATTN_ERROR_ARGUMENT, "parameter %u: name or value is null", i);
        const attn_param_info_t *info = find(known, params[i].name, &index);
        if (!info) return refuse_name(backend, known, params[i].name, error);
        attn_status_t status = info->type == ATTN_PARAM_CHOICE
                                   ? read_choice(info, params[i].value, &values[index], error)
                                   : read_number(info, params[i].value, &values[index], error);
        if (status != ATTN_OK) return status;
    }
    return ATTN_OK;
}
