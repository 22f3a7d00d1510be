#include <vips/vips.h>

#include "CVipsShims.h"

// Converts floating-point samples to bytes, rounded, since libvips truncates.
static int as_bytes(VipsImage *in, VipsImage **out, VipsInterpretation meaning) {
    VipsImage *bytes;
    if (vips_linear1(in, &bytes, 1.0, 0.5, "uchar", TRUE, NULL)) return -1;
    int result = vips_copy(bytes, out, "interpretation", meaning, NULL);
    g_object_unref(bytes);
    return result;
}

// Appends the alpha band of `in`, if any, to `colors`, which has the interpretation `meaning`.
static int with_alpha_of(VipsObject *owner, VipsImage *in, VipsImage *colors,
                         VipsInterpretation meaning, VipsImage **out) {
    VipsImage **made = (VipsImage **)vips_object_local_array(owner, 2);
    if (!vips_image_hasalpha(in)) return vips_copy(colors, out, "interpretation", meaning, NULL);
    return vips_extract_band(in, &made[0], in->Bands - 1, NULL) ||
           vips_bandjoin2(colors, made[0], &made[1], NULL) ||
           vips_copy(made[1], out, "interpretation", meaning, NULL);
}

static int colors_of(VipsImage *in, VipsImage **out) {
    int count = in->Bands - (vips_image_hasalpha(in) ? 1 : 0);
    return vips_extract_band(in, out, 0, "n", count, NULL);
}

// Sums the bands of `in` by the matrix, as floating point, and adds the offsets.
static int summed(VipsObject *owner, VipsImage *in, VipsImage *matrix, const double *offsets,
                  VipsImage **out) {
    VipsImage **made = (VipsImage **)vips_object_local_array(owner, 1);
    double ones[3] = {1, 1, 1};
    return vips_recomb(in, &made[0], matrix, NULL) ||
           vips_linear(made[0], out, ones, offsets, matrix->Ysize, NULL);
}

static int summed_in_lab(VipsObject *owner, VipsImage *in, VipsImage *matrix,
                         const double *offsets, VipsImage **out) {
    VipsImage **made = (VipsImage **)vips_object_local_array(owner, 2);
    return vips_colourspace(in, &made[0], VIPS_INTERPRETATION_LAB, NULL) ||
           summed(owner, made[0], matrix, offsets, &made[1]) ||
           vips_colourspace(made[1], out, VIPS_INTERPRETATION_sRGB, "source_space",
                            VIPS_INTERPRETATION_LAB, NULL);
}

int cvips_mix(cvips_image in, const double *terms, int rows, int in_lab, cvips_image *out) {
    *out = NULL;
    VipsImage *owner = vips_image_new();
    VipsImage **made = (VipsImage **)vips_object_local_array(VIPS_OBJECT(owner), 4);
    VipsInterpretation meaning = rows < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB;
    double factors[9], offsets[3];
    for (int row = 0; row < rows; row++) {
        for (int band = 0; band < 3; band++) factors[3 * row + band] = terms[4 * row + band];
        offsets[row] = terms[4 * row + 3];
    }
    made[0] = vips_image_new_matrix_from_array(3, rows, factors, 3 * rows);
    int result = !made[0] || colors_of(in, &made[1]);
    if (!result)
        result = in_lab ? summed_in_lab(VIPS_OBJECT(owner), made[1], made[0], offsets, &made[3])
                        : summed(VIPS_OBJECT(owner), made[1], made[0], offsets, &made[2]) ||
                              as_bytes(made[2], &made[3], meaning);
    if (!result) result = with_alpha_of(VIPS_OBJECT(owner), in, made[3], meaning, out);
    g_object_unref(owner);
    return result ? -1 : 0;
}

int cvips_map(cvips_image in, const uint8_t *curve, cvips_image *out) {
    *out = NULL;
    VipsImage *owner = vips_image_new();
    VipsImage **made = (VipsImage **)vips_object_local_array(VIPS_OBJECT(owner), 3);
    made[0] = vips_image_new_from_memory_copy(curve, 256, 256, 1, 1, VIPS_FORMAT_UCHAR);
    int result = !made[0] || colors_of(in, &made[1]) ||
                 vips_maplut(made[1], &made[2], made[0], NULL) ||
                 with_alpha_of(VIPS_OBJECT(owner), in, made[2], in->Type, out);
    g_object_unref(owner);
    return result ? -1 : 0;
}

// The input for operations that combine pixels: floating point, premultiplied if there is alpha.
static int weighted(VipsImage *in, VipsImage **out) {
    return vips_image_hasalpha(in) ? vips_premultiply(in, out, NULL)
                                   : vips_cast(in, out, VIPS_FORMAT_FLOAT, NULL);
}

static int unweighted(VipsObject *owner, VipsImage *in, VipsInterpretation meaning,
                      VipsImage **out) {
    VipsImage **made = (VipsImage **)vips_object_local_array(owner, 1);
    if (!vips_image_hasalpha(in)) return as_bytes(in, out, meaning);
    return vips_unpremultiply(in, &made[0], NULL) || as_bytes(made[0], out, meaning);
}

int cvips_blur(cvips_image in, double sigma, cvips_image *out) {
    *out = NULL;
    VipsImage *owner = vips_image_new();
    VipsImage **made = (VipsImage **)vips_object_local_array(VIPS_OBJECT(owner), 2);
    int result = weighted(in, &made[0]) ||
                 vips_gaussblur(made[0], &made[1], sigma, "min_ampl", 0.01, "precision",
                                VIPS_PRECISION_FLOAT, NULL) ||
                 unweighted(VIPS_OBJECT(owner), made[1], in->Type, out);
    g_object_unref(owner);
    return result ? -1 : 0;
}

int cvips_unsharp(cvips_image in, double sigma, double amount, cvips_image *out) {
    *out = NULL;
    VipsImage *owner = vips_image_new();
    VipsImage **made = (VipsImage **)vips_object_local_array(VIPS_OBJECT(owner), 5);
    // The blurred colors are subtracted within the original alpha.
    int result = colors_of(in, &made[0]) || weighted(in, &made[1]) ||
                 vips_gaussblur(made[1], &made[2], sigma, "min_ampl", 0.01, "precision",
                                VIPS_PRECISION_FLOAT, NULL) ||
                 unweighted(VIPS_OBJECT(owner), made[2], in->Type, &made[3]);
    if (!result) {
        VipsImage **more = (VipsImage **)vips_object_local_array(VIPS_OBJECT(owner), 5);
        result = colors_of(made[3], &more[0]) ||
                 vips_linear1(made[0], &more[1], 1 + amount, 0, NULL) ||
                 vips_linear1(more[0], &more[2], amount, 0, NULL) ||
                 vips_subtract(more[1], more[2], &more[3], NULL) ||
                 as_bytes(more[3], &more[4], in->Type) ||
                 with_alpha_of(VIPS_OBJECT(owner), in, more[4], in->Type, out);
    }
    g_object_unref(owner);
    return result ? -1 : 0;
}

int cvips_pixelate(cvips_image in, int side, cvips_image *out) {
    *out = NULL;
    int width = (in->Xsize + side - 1) / side * side;
    int height = (in->Ysize + side - 1) / side * side;
    VipsImage *owner = vips_image_new();
    VipsImage **made = (VipsImage **)vips_object_local_array(VIPS_OBJECT(owner), 5);
    int result = weighted(in, &made[0]) ||
                 vips_embed(made[0], &made[1], 0, 0, width, height, "extend", VIPS_EXTEND_COPY,
                            NULL) ||
                 vips_shrink(made[1], &made[2], side, side, NULL) ||
                 unweighted(VIPS_OBJECT(owner), made[2], in->Type, &made[3]) ||
                 vips_zoom(made[3], &made[4], side, side, NULL) ||
                 vips_extract_area(made[4], out, 0, 0, in->Xsize, in->Ysize, NULL);
    g_object_unref(owner);
    return result ? -1 : 0;
}

int cvips_turn(cvips_image in, double radians, int width, int height, cvips_image *out) {
    *out = NULL;
    VipsImage *owner = vips_image_new();
    VipsImage **made = (VipsImage **)vips_object_local_array(VIPS_OBJECT(owner), 2);
    VipsInterpolate *interpolate = vips_interpolate_new("bicubic");
    VipsArrayInt *area = vips_array_int_newv(4, 0, 0, width, height);
    double nothing[4] = {0, 0, 0, 0};
    VipsArrayDouble *clear = vips_array_double_new(nothing, in->Bands);
    double c = cos(radians), s = sin(radians);
    // Pixel centers rotate about the center of the image.
    int result = !interpolate || weighted(in, &made[0]) ||
                 vips_affine(made[0], &made[1], c, s, -s, c, "interpolate", interpolate, "oarea",
                             area, "idx", 0.5 - in->Xsize / 2.0, "idy", 0.5 - in->Ysize / 2.0,
                             "odx", width / 2.0 - 0.5, "ody", height / 2.0 - 0.5, "extend",
                             VIPS_EXTEND_BACKGROUND, "background", clear, "premultiplied", TRUE,
                             NULL) ||
                 unweighted(VIPS_OBJECT(owner), made[1], in->Type, out);
    vips_area_unref(VIPS_AREA(area));
    vips_area_unref(VIPS_AREA(clear));
    if (interpolate) g_object_unref(interpolate);
    g_object_unref(owner);
    return result ? -1 : 0;
}

int cvips_smart_crop(cvips_image in, int width, int height, int by_entropy, cvips_image *out) {
    *out = NULL;
    VipsInteresting what = by_entropy ? VIPS_INTERESTING_ENTROPY : VIPS_INTERESTING_ATTENTION;
    return vips_smartcrop(in, out, width, height, "interesting", what, NULL);
}
