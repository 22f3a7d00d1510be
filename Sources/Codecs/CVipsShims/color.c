#include <vips/vips.h>

#include "CVipsShims.h"

int cvips_to_srgb(cvips_image in, int is_deep, cvips_image *out) {
    *out = NULL;
    return vips_colourspace(
        in, out, is_deep ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB, NULL);
}

int cvips_to_gray(cvips_image in, int is_deep, cvips_image *out) {
    *out = NULL;
    return vips_colourspace(
        in, out, is_deep ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W, NULL);
}

int cvips_first_bands(cvips_image in, int count, cvips_image *out) {
    *out = NULL;
    return vips_extract_band(in, out, 0, "n", count, NULL);
}

int cvips_profile_to_srgb(cvips_image in, int is_perceptual, cvips_image *out) {
    *out = NULL;
    // libvips 8.14 casts the alpha band to the depth of the result without scaling it, so the
    // depth must not change here.
    return vips_icc_transform(in, out, "srgb", "embedded", TRUE, "intent",
                              is_perceptual ? VIPS_INTENT_PERCEPTUAL : VIPS_INTENT_RELATIVE,
                              "depth",
                              in->BandFmt == VIPS_FORMAT_USHORT ? 16 : 8, NULL);
}

int cvips_ycbcr_to_srgb(cvips_image in, cvips_image *out) {
    *out = NULL;
    double one[] = {1, 1, 1}, offset[] = {0, -128, -128};
    double rows[] = {1, 0, 1.402, 1, -0.344136, -0.714136, 1, 1.772, 0};
    VipsImage *owner = vips_image_new();
    VipsImage **made = (VipsImage **)vips_object_local_array(VIPS_OBJECT(owner), 5);
    made[0] = vips_image_new_matrix_from_array(3, 3, rows, 9);
    int result = !made[0] || vips_linear(in, &made[1], one, offset, 3, NULL) ||
                 vips_recomb(made[1], &made[2], made[0], NULL) ||
                 vips_rint(made[2], &made[3], NULL) ||
                 vips_cast(made[3], &made[4], VIPS_FORMAT_UCHAR, NULL) ||
                 vips_copy(made[4], out, "interpretation", VIPS_INTERPRETATION_sRGB, NULL);
    g_object_unref(owner);
    return result ? -1 : 0;
}
