#include <vips/vips.h>

#include "CVipsShims.h"

int cvips_extract(cvips_image in, int left, int top, int width, int height, cvips_image *out) {
    *out = NULL;
    return vips_extract_area(in, out, left, top, width, height, NULL);
}

int cvips_embed(cvips_image in, int left, int top, int width, int height,
                const double *background, int bands, cvips_image *out) {
    *out = NULL;
    VipsArrayDouble *color = vips_array_double_new(background, bands);
    int result = vips_embed(in, out, left, top, width, height, "extend", VIPS_EXTEND_BACKGROUND,
                            "background", color, NULL);
    vips_area_unref(VIPS_AREA(color));
    return result;
}

int cvips_extend(cvips_image in, int left, int top, int width, int height, int edge,
                 cvips_image *out) {
    static const VipsExtend edges[] = {VIPS_EXTEND_COPY, VIPS_EXTEND_REPEAT, VIPS_EXTEND_MIRROR};
    *out = NULL;
    return vips_embed(in, out, left, top, width, height, "extend", edges[edge % 3], NULL);
}

int cvips_rotate(cvips_image in, int quarters, cvips_image *out) {
    static const VipsAngle angles[] = {VIPS_ANGLE_D0, VIPS_ANGLE_D90, VIPS_ANGLE_D180,
                                       VIPS_ANGLE_D270};
    *out = NULL;
    return vips_rot(in, out, angles[quarters & 3], NULL);
}

int cvips_flip_horizontal(cvips_image in, cvips_image *out) {
    *out = NULL;
    return vips_flip(in, out, VIPS_DIRECTION_HORIZONTAL, NULL);
}

int cvips_flip_vertical(cvips_image in, cvips_image *out) {
    *out = NULL;
    return vips_flip(in, out, VIPS_DIRECTION_VERTICAL, NULL);
}
