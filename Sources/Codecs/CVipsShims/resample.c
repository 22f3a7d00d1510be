#include <vips/vips.h>

#include "CVipsShims.h"

int cvips_reduce_h(cvips_image in, double factor, double gap, cvips_image *out) {
    *out = NULL;
    return vips_reduceh(in, out, factor, "kernel", VIPS_KERNEL_LANCZOS3, "gap", gap, NULL);
}

int cvips_reduce_v(cvips_image in, double factor, double gap, cvips_image *out) {
    *out = NULL;
    return vips_reducev(in, out, factor, "kernel", VIPS_KERNEL_LANCZOS3, "gap", gap, NULL);
}

int cvips_enlarge(cvips_image in, double horizontal, double vertical, double left, double top,
                  int width, int height, cvips_image *out) {
    *out = NULL;
    VipsInterpolate *interpolate = vips_interpolate_new("bicubic");
    if (!interpolate)
        return -1;
    VipsArrayInt *area = vips_array_int_newv(4, 0, 0, width, height);
    // libvips reads column x of the result at x / horizontal − idx; its center is at left + (x +
    // 0.5) / horizontal − 0.5 (likewise for rows). vips_resize omits the second half pixel, which
    // shifts enlarged images.
    double idx = 0.5 - 0.5 / horizontal - left;
    double idy = 0.5 - 0.5 / vertical - top;
    int result = vips_affine(in, out, horizontal, 0.0, 0.0, vertical, "interpolate", interpolate,
                             "oarea", area, "idx", idx, "idy", idy, "extend", VIPS_EXTEND_COPY,
                             "premultiplied", TRUE, NULL);
    vips_area_unref(VIPS_AREA(area));
    g_object_unref(interpolate);
    return result;
}

int cvips_miniature(cvips_image in, int width, int height, cvips_image *out) {
    *out = NULL;
    VipsImage *owner = vips_image_new();
    VipsImage **made = (VipsImage **)vips_object_local_array(VIPS_OBJECT(owner), 3);
    int is_small = in->Xsize == width && in->Ysize == height;
    // This premultiplies colors if there is alpha.
    int result = (is_small ? vips_copy(in, &made[0], NULL)
                           : vips_thumbnail_image(in, &made[0], width, "height", height, "size",
                                                  VIPS_SIZE_FORCE, "no_rotate", TRUE, NULL)) ||
                 vips_colourspace(made[0], &made[1], VIPS_INTERPRETATION_sRGB, NULL);
    if (!result && !vips_image_hasalpha(made[1])) {
        result = vips_addalpha(made[1], &made[2], NULL);
    } else if (!result) {
        made[2] = made[1];
        g_object_ref(made[2]);
    }
    if (!result) result = vips_cast(made[2], out, VIPS_FORMAT_UCHAR, NULL);
    g_object_unref(owner);
    return result ? -1 : 0;
}
