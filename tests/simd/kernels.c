/* Compiled once for each tier, like a plugin's kernels. */
#include "kernels.h"

#include "simd/math.h"

static void unary(int operation, const float *a, float *result) {
    vf x = vf_load(a);
    switch (operation) {
    case SIMD_ZERO:
        x = vf_zero();
        break;
    case SIMD_SET1:
        x = vf_set1(a[0]);
        break;
    case SIMD_SQRT:
        x = vf_sqrt(x);
        break;
    case SIMD_EXP4:
        x = vf_exp4(x);
        break;
    case SIMD_EXP:
        x = vf_exp(x);
        break;
    case SIMD_EXPONENT:
        x = vf_exponent(x);
        break;
    default:
        break;
    }
    vf_store(result, x);
}

static void binary(int operation, const float *a, const float *b, float *result) {
    const vf x = vf_load(a), y = vf_load(b);
    switch (operation) {
    case SIMD_ADD:
        vf_store(result, vf_add(x, y));
        return;
    case SIMD_SUB:
        vf_store(result, vf_sub(x, y));
        return;
    case SIMD_MUL:
        vf_store(result, vf_mul(x, y));
        return;
    case SIMD_DIV:
        vf_store(result, vf_div(x, y));
        return;
    case SIMD_MAX:
        vf_store(result, vf_max(x, y));
        return;
    default:
        vf_store(result, vf_min(x, y));
        return;
    }
}

static void mul_add(const float *a, const float *b, const float *c, float *result) {
    vf_store(result, vf_mul_add(vf_load(a), vf_load(b), vf_load(c)));
}

static void select_positive(const float *c, const float *a, const float *b, float *result) {
    vf_store(result, vf_select_positive(vf_load(c), vf_load(a), vf_load(b)));
}

static void keep(const float *v, int64_t first, int64_t last, float fill, float *result) {
    vf_store(result, vf_keep(vf_load(v), first, last, vf_set1(fill)));
}

static void load_first(const float *p, int64_t n, float *result) {
    vf_store(result, vf_load_first(p, n));
}

static void store_first(float *p, const float *v, int64_t n) { vf_store_first(p, vf_load(v), n); }

static float reduce_add(const float *v) { return vf_reduce_add(vf_load(v)); }

static float reduce_max(const float *v) { return vf_reduce_max(vf_load(v)); }

static void reduce_add4(float *to, const float *v) {
    vf vectors[4];
    for (int i = 0; i < 4; i++) vectors[i] = vf_load(v + i * VF_LANES);
    vf_reduce_add4(to, vectors);
}

static void load_i8(const int8_t *p, float *result) { vf_store(result, vf_load_i8(p)); }

static void pack_lanes(float *p, const float *v, int32_t *q, const int32_t *w, uint32_t lanes) {
    vf_pack(p, vf_load(v), q, w, lanes);
}

const simd_kernels_t ATTN_KERNEL(attn_test_simd) = {
    .lanes = VF_LANES,
    .unary = unary,
    .binary = binary,
    .mul_add = mul_add,
    .select_positive = select_positive,
    .keep = keep,
    .load_first = load_first,
    .store_first = store_first,
    .reduce_add = reduce_add,
    .reduce_max = reduce_max,
    .reduce_add4 = reduce_add4,
    .load_i8 = load_i8,
    .pack_lanes = pack_lanes,
};
