#include <vips/vips.h>

#include "CVipsShims.h"

int cvips_to_srgb(cvips_image in, int is_deep, cvips_image *out) {
    *out = NULL;
    return vips_colourspace(
        in, out, is_deep ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB, NULL);
}

int cvips_to_grey(cvips_image in, int is_deep, cvips_image *out) {
    *out = NULL;
    return vips_colourspace(
        in, out, is_deep ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W, NULL);
}

int cvips_first_bands(cvips_image in, int count, cvips_image *out) {
    *out = NULL;
    return vips_extract_band(in, out, 0, "n", count, NULL);
}

int cvips_profile_to_srgb(cvips_image in, cvips_image *out) {
    *out = NULL;
    // libvips 8.14 casts the alpha band to the depth of the result without scaling it, so the
    // depth must not change here.
    return vips_icc_transform(in, out, "srgb", "embedded", TRUE, "intent",
                              VIPS_INTENT_RELATIVE, "depth",
                              in->BandFmt == VIPS_FORMAT_USHORT ? 16 : 8, NULL);
}
