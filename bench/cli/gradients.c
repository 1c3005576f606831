/* cli/gradients.c: see gradients.h. */
#include "cli/gradients.h"

#include "cli/cli.h"

#include <string.h>

/* The file behind "NAME=", and the length of the name; NULL where `text` is not of that form. */
static const char *file_of(const char *text, size_t *length) {
    *length = strcspn(text, "=");
    return *length && text[*length] && text[*length + 1] ? text + *length + 1 : NULL;
}

static int is_of(const char *text, size_t length, const char *name) {
    return strlen(name) == length && strncmp(text, name, length) == 0;
}

const char *gradients_file(const gradients_t *gradients, const attn_array_info_t *info) {
    for (int i = 0; i < gradients->files.count; i++) {
        size_t length;
        const char *text = gradients->files.items[i], *file = file_of(text, &length);
        if (file && is_of(text, length, info->name)) return file;
    }
    return NULL;
}

static int check_one(const gradients_t *gradients, int which) {
    size_t length, other;
    const char *text = gradients->files.items[which];
    if (!file_of(text, &length))
        return cli_complain(CLI_USAGE, "--grad: '%s' is not of the form NAME=FILE", text);
    for (int i = 0; i < which; i++) {
        file_of(gradients->files.items[i], &other);
        if (other == length && strncmp(gradients->files.items[i], text, length) == 0)
            return cli_complain(CLI_USAGE, "--grad: '%.*s' is given twice", (int)length, text);
    }
    return CLI_OK;
}

int gradients_check(const gradients_t *gradients) {
    attn_array_info_t out = {.struct_size = sizeof out};
    for (int i = 0; i < gradients->files.count; i++)
        if (check_one(gradients, i)) return CLI_USAGE;
    attn_backend_array(NULL, ATTN_ARRAY_OUT, &out);
    if (!gradients->files.count || gradients_file(gradients, &out)) return CLI_OK;
    return cli_complain(CLI_USAGE, "--grad: the loss's gradient is missing: --grad out=FILE");
}

/* ---- arrays -------------------------------------------------------------------------------------- */

/* Every name is an array of the backend's runs that has a gradient, or out. */
static int check_name(const trial_t *trial, const char *text) {
    attn_array_info_t info = {.struct_size = sizeof info};
    size_t length;
    file_of(text, &length);
    for (uint32_t number = 0; attn_backend_array(trial->backend, number, &info); number++)
        if (is_of(text, length, info.name) &&
            (number == ATTN_ARRAY_OUT || info.flags & ATTN_ARRAY_DIFFERENTIABLE))
            return CLI_OK;
    return cli_complain(CLI_USAGE, "--grad: there is no gradient of '%.*s'", (int)length, text);
}

static const attn_tensor_t *tensor_of(trial_t *trial, uint32_t number) {
    if (number < ATTN_ARRAY_OWN) return attn_io_array(&trial->io, number);
    return trial->own[number - ATTN_ARRAY_OWN];
}

static int read_loss(array_t *array, const attn_tensor_t *out, const char *path) {
    static const npy_wanted_t wanted = {.types = NPY_FLOATS,
                                        .low = 2,
                                        .high = 4,
                                        .ranks = "2 (n, dv), 3 (H, n, dv) or 4 (B, H, n, dv)"};
    char shape[96], expected[96];
    const array_t result = {.tensor = *out, .rank = 4};
    const int status = array_load(array, path, &wanted);
    if (status) return status;
    if (memcmp(array->tensor.shape, out->shape, sizeof out->shape) != 0)
        return cli_complain(CLI_USAGE, "%s: the gradient of out is %s, out itself %s", path,
                            array_shape(array, shape), array_shape(&result, expected));
    if (array->tensor.dtype == out->dtype) return CLI_OK;
    if (out->dtype != ATTN_F32)
        return cli_complain(CLI_USAGE, "%s: must be float16, as out is", path);
    return array_copy(array, NULL, ATTN_F32, path);
}

/* Room for a gradient: its array in C order. */
static int make(array_t *array, const attn_tensor_t *of, const char *name) {
    attn_tensor_t *tensor = &array->tensor;
    int64_t stride = 1;
    *tensor = *of;
    for (int axis = 3; axis >= 0; axis--) {
        tensor->stride[axis] = stride;
        stride *= tensor->shape[axis];
    }
    array->rank = 4;
    array->memory = tensor->data = array_allocate(tensor->dtype, tensor->shape);
    if (array->memory) return CLI_OK;
    return cli_complain(CLI_USAGE, "no memory for the gradient of %s", name);
}

static int prepare(gradients_t *gradients, trial_t *trial, uint32_t number,
                   const attn_array_info_t *info) {
    const char *path = gradients_file(gradients, info);
    const attn_tensor_t *of = tensor_of(trial, number);
    array_t *array = &gradients->arrays[number];
    if (!path) return CLI_OK;
    if (!of || !of->data) return cli_complain(CLI_USAGE, "--grad: the run has no %s", info->name);
    const int status =
        number == ATTN_ARRAY_OUT ? read_loss(array, of, path) : make(array, of, info->name);
    if (status) return status;
    if (number < ATTN_ARRAY_OWN)
        *attn_io_array(&gradients->io, number) = array->tensor;
    else
        gradients->own[number - ATTN_ARRAY_OWN] = &array->tensor;
    return CLI_OK;
}

/* A run that is to be gone back through has lse, where its backend has one. */
static int make_lse(gradients_t *gradients, trial_t *trial) {
    attn_tensor_t lse;
    if (trial->io.lse.data || !(trial->backend->features & ATTN_FEATURE_LSE)) return CLI_OK;
    attn_plan_array(trial->plan, ATTN_ARRAY_LSE, &lse);
    const int status = make(&gradients->lse, &lse, "lse");
    trial->io.lse = gradients->lse.tensor;
    return status;
}

int gradients_prepare(gradients_t *gradients, trial_t *trial) {
    attn_array_info_t info = {.struct_size = sizeof info};
    gradients->io = (attn_io_t){.struct_size = sizeof gradients->io,
                                .own = gradients->own,
                                .own_count = ATTN_MOST_OWN_ARRAYS};
    for (int i = 0; i < gradients->files.count; i++)
        if (check_name(trial, gradients->files.items[i])) return CLI_USAGE;
    for (uint32_t number = 0; attn_backend_array(trial->backend, number, &info); number++)
        if (prepare(gradients, trial, number, &info)) return CLI_USAGE;
    return gradients->files.count ? make_lse(gradients, trial) : CLI_OK;
}

attn_status_t gradients_run(gradients_t *gradients, trial_t *trial) {
    if (!gradients->files.count) return ATTN_OK;
    return attn_backward(trial->plan, &trial->io, &gradients->io, &trial->error);
}

void gradients_free(gradients_t *gradients) {
    for (int number = 0; number < DECLARED_MOST; number++) array_free(&gradients->arrays[number]);
    array_free(&gradients->lse);
}
