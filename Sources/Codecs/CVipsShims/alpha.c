#include <vips/vips.h>

#include "CVipsShims.h"

int cvips_flatten(cvips_image in, double red, double green, double blue, cvips_image *out) {
    *out = NULL;
    const double color[] = {red, green, blue};
    VipsArrayDouble *background = vips_array_double_new(color, in->Bands < 3 ? 1 : 3);
    int result = vips_flatten(in, out, "background", background, NULL);
    vips_area_unref(VIPS_AREA(background));
    return result;
}

int cvips_add_alpha(cvips_image in, cvips_image *out) {
    *out = NULL;
    return vips_addalpha(in, out, NULL);
}

int cvips_unpremultiply(cvips_image in, cvips_image *out) {
    *out = NULL;
    VipsImage *owner = vips_image_new();
    VipsImage **made = (VipsImage **)vips_object_local_array(VIPS_OBJECT(owner), 2);
    int result = vips_unpremultiply(in, &made[0], NULL) || vips_rint(made[0], &made[1], NULL) ||
                 vips_cast(made[1], out, in->BandFmt, NULL);
    g_object_unref(owner);
    return result ? -1 : 0;
}

// Converts `over` to sRGB with alpha multiplied by `opacity`.
static int as_layer(VipsObject *owner, VipsImage *over, double opacity, VipsImage **out) {
    VipsImage **made = (VipsImage **)vips_object_local_array(owner, 2);
    const double factors[] = {1, 1, 1, opacity};
    // Adds 0.5, since samples are truncated.
    const double halves[] = {0, 0, 0, 0.5};
    if (vips_colourspace(over, &made[0], VIPS_INTERPRETATION_sRGB, NULL)) return -1;
    if (vips_image_hasalpha(made[0])) {
        made[1] = made[0];
        g_object_ref(made[1]);
    } else if (vips_addalpha(made[0], &made[1], NULL)) {
        return -1;
    }
    if (opacity >= 1) {
        *out = made[1];
        g_object_ref(*out);
        return 0;
    }
    return vips_linear(made[1], out, factors, halves, 4, "uchar", TRUE, NULL);
}

int cvips_overlay(cvips_image in, cvips_image over, int left, int top, double opacity,
                  cvips_image *out) {
    *out = NULL;
    VipsImage *owner = vips_image_new();
    VipsImage **made = (VipsImage **)vips_object_local_array(VIPS_OBJECT(owner), 4);
    int result = as_layer(VIPS_OBJECT(owner), over, opacity, &made[0]) ||
                 vips_colourspace(in, &made[1], VIPS_INTERPRETATION_sRGB, NULL) ||
                 vips_composite2(made[1], made[0], &made[2], VIPS_BLEND_MODE_OVER, "x", left, "y",
                                 top, "compositing_space", VIPS_INTERPRETATION_sRGB, NULL) ||
                 vips_cast(made[2], &made[3], VIPS_FORMAT_UCHAR, NULL) ||
                 (vips_image_hasalpha(in)
                      ? vips_copy(made[3], out, NULL)
                      : vips_extract_band(made[3], out, 0, "n", 3, NULL));
    g_object_unref(owner);
    return result ? -1 : 0;
}
