/* Parameters: text in, values that the backend declared out. */
#include "internal.h"
#include "number/number.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const attn_ext_params_t *declared(const attn_backend_t *backend) {
    if (ATTN_SMALL || !backend) return NULL; /* small: none has any */
    return attn_extension(backend, ATTN_EXT_PARAMS, sizeof(attn_ext_params_t));
}

uint32_t attn_params_count(const attn_backend_t *backend) {
    const attn_ext_params_t *params = declared(backend);
    return params ? params->count : 0;
}

int32_t attn_backend_param(const attn_backend_t *backend, uint32_t index,
                           attn_param_info_t *result) {
    const attn_ext_params_t *params = declared(backend);
    attn_param_info_t info;
    if (!result || !params || index >= params->count) return 0;
    /* They stand one behind the other, each as large as the plugin's header has them. */
    const char *at = (const char *)params->params + index * (size_t)params->params->struct_size;
    if (!attn_struct_read(&info, sizeof info, at, sizeof info)) return 0;
    if (!info.label) info.label = "";
    if (!info.help) info.help = "";
    if (!info.unit) info.unit = "";
    return attn_struct_write(result, &info, sizeof info, sizeof info);
}

/* Whole numbers up to 2^53 are exact as what they are declared and read as. */
static bool has_a_range(const attn_param_info_t *info) {
    const double most = info->type == ATTN_PARAM_NUMBER ? DBL_MAX : 0x1p53;
    return info->minimum >= -most && info->minimum <= info->initial &&
           info->initial <= info->maximum && info->maximum <= most;
}

static bool has_choices(const attn_param_info_t *info) {
    int64_t count = 0;
    while (info->choices && info->choices[count]) count++;
    return info->initial >= 0 && info->initial < (double)count;
}

static bool is_declared_well(const attn_param_info_t *info) {
    if (!attn_is_name(info->name)) return false;
    if (info->type == ATTN_PARAM_CHOICE) return has_choices(info);
    return info->type >= ATTN_PARAM_INTEGER && info->type < ATTN_PARAM_CHOICE && has_a_range(info);
}

const char *attn_params_malformed(const attn_backend_t *backend) {
    const attn_ext_params_t *params = declared(backend);
    attn_param_info_t info = {.struct_size = sizeof info}, other = info;
    if (params && params->count && !params->params) return "its list of parameters is malformed";
    for (uint32_t i = 0; i < attn_params_count(backend); i++) {
        if (!attn_backend_param(backend, i, &info) || !is_declared_well(&info))
            return "one of its parameters is malformed";
        for (uint32_t k = 0; k < i && attn_backend_param(backend, k, &other); k++)
            if (strcmp(other.name, info.name) == 0) return "two parameters have one name";
    }
    return NULL;
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
    const bool whole = info->type != ATTN_PARAM_NUMBER, boolean = info->type == ATTN_PARAM_BOOLEAN;
    const char *end;
    if (boolean && strcmp(text, "true") == 0) text = "1";
    if (boolean && strcmp(text, "false") == 0) text = "0";
    double number = attn_number_read(text, &end);
    if (end == text || *end || isnan(number))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "parameter '%s': '%.60s' is not %s",
                         info->name, text, boolean ? "true or false" : "a number");
    if (number == 0 && !attn_number_is_zero(text)) /* 0 often stands for something else */
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "parameter '%s': %.40s is below the smallest double, 4.9e-324", info->name,
                         text);
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

static bool find(const attn_backend_t *backend, const char *name, uint32_t *index,
                 attn_param_info_t *info) {
    info->struct_size = sizeof *info;
    for (*index = 0; attn_backend_param(backend, *index, info); ++*index)
        if (strcmp(info->name, name) == 0) return true;
    return false;
}

static attn_status_t refuse_name(const attn_backend_t *backend, const char *name,
                                 attn_error_t *error) {
    char names[128] = "";
    attn_param_info_t info = {.struct_size = sizeof info};
    for (uint32_t i = 0; attn_backend_param(backend, i, &info); i++)
        attn_list_name(names, sizeof names, info.name);
    return attn_fail(error, ATTN_ERROR_NOT_FOUND, "backend '%.30s' has no parameter '%.30s' (%s%s)",
                     backend->id, name, *names ? "there are " : "none in this build", names);
}

attn_status_t attn_params_read(const attn_backend_t *backend, const attn_param_t *params,
                               uint32_t count, attn_value_t *values, attn_error_t *error) {
    attn_param_info_t info = {.struct_size = sizeof info};
    uint32_t index;
    for (index = 0; attn_backend_param(backend, index, &info); index++) {
        if (info.type == ATTN_PARAM_NUMBER)
            values[index].number = info.initial;
        else
            values[index].integer = (int64_t)info.initial;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!params[i].name || !params[i].value)
            return attn_fail(error, ATTN_ERROR_ARGUMENT, "parameter %u: name or value is null", i);
        if (!find(backend, params[i].name, &index, &info))
            return refuse_name(backend, params[i].name, error);
        attn_status_t status = info.type == ATTN_PARAM_CHOICE
                                   ? read_choice(&info, params[i].value, &values[index], error)
                                   : read_number(&info, params[i].value, &values[index], error);
        if (status != ATTN_OK) return status;
    }
    return ATTN_OK;
}
