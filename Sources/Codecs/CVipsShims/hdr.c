#include <math.h>
#include <vips/vips.h>

#include "CVipsShims.h"

// Luminance of a sample from 0 to 1 (ITU-R BT.2100, table 4), in candela per square meter.
static double pq_light(double sample) {
    const double m1 = 2610.0 / 16384, m2 = 2523.0 / 4096 * 128;
    const double c1 = 3424.0 / 4096, c2 = 2413.0 / 4096 * 32, c3 = 2392.0 / 4096 * 32;
    double power = pow(sample, 1 / m2);
    return 10000 * pow(fmax(power - c1, 0) / (c2 - c3 * power), 1 / m1);
}

// The HLG counterpart (table 5): scene light from 0 to 1.
static double hlg_light(double sample) {
    const double a = 0.17883277, b = 1 - 4 * a, c = 0.5 - a * log(4 * a);
    return sample <= 0.5 ? sample * sample / 3 : (exp((sample - c) / a) + b) / 12;
}

// A table of the light for each sample value, where 1 is SDR white, or for HLG scene light.
static VipsImage *light_table(VipsImage *in, cvips_hdr hdr) {
    int count = in->BandFmt == VIPS_FORMAT_UCHAR ? 256 : 65536;
    float *light = g_new(float, count);
    for (int i = 0; i < count; i++) {
        double sample = fmin(i / hdr.whole, 1);
        light[i] = (float)(hdr.is_pq ? pq_light(sample) / hdr.white : hlg_light(sample));
    }
    VipsImage *table = vips_image_new_from_memory_copy(light, count * sizeof *light, count, 1, 1,
                                                       VIPS_FORMAT_FLOAT);
    g_free(light);
    return table;
}

// Outputs red, green and blue without alpha; gray is repeated three times.
static int colors_of(VipsObject *owner, VipsImage *in, VipsImage **out) {
    VipsImage **made = (VipsImage **)vips_object_local_array(owner, 1);
    if (in->Bands >= 3) return vips_extract_band(in, out, 0, "n", 3, NULL);
    if (vips_extract_band(in, &made[0], 0, NULL)) return -1;
    VipsImage *bands[] = {made[0], made[0], made[0]};
    return vips_bandjoin(bands, out, 3, NULL);
}

// Converts scene light to that of a display with luminance `peak`, where 1 is SDR white (table 5,
// OOTF).
static int displayed(VipsObject *owner, VipsImage *scene, cvips_hdr hdr, VipsImage **out) {
    const double gamma = 1.2;
    VipsImage **made = (VipsImage **)vips_object_local_array(owner, 4);
    made[0] = vips_image_new_matrix_from_array(3, 1, hdr.luminance, 3);
    return !made[0] || vips_recomb(scene, &made[1], made[0], NULL) ||
           vips_pow_const1(made[1], &made[2], gamma - 1, NULL) ||
           vips_multiply(scene, made[2], &made[3], NULL) ||
           vips_linear1(made[3], out, hdr.peak / hdr.white, 0, NULL);
}

// Rounds, since libvips truncates.
static int scaled(VipsImage *in, double factor, VipsBandFormat format, VipsImage **out) {
    VipsImage *number;
    if (vips_linear1(in, &number, factor, 0.5, NULL)) return -1;
    int result = vips_cast(number, out, format, NULL);
    g_object_unref(number);
    return result;
}

int cvips_hdr_to_srgb(cvips_image in, cvips_hdr hdr, int is_deep, cvips_image *out) {
    *out = NULL;
    VipsImage *owner = vips_image_new();
    VipsObject *object = VIPS_OBJECT(owner);
    VipsImage **made = (VipsImage **)vips_object_local_array(object, 10);
    VipsBandFormat format = is_deep ? VIPS_FORMAT_USHORT : VIPS_FORMAT_UCHAR;
    VipsInterpretation meaning = is_deep ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB;
    double most = is_deep ? UINT16_MAX : UINT8_MAX;
    made[0] = light_table(in, hdr);
    made[1] = vips_image_new_matrix_from_array(3, 3, hdr.to_srgb, 9);
    int result = !made[0] || !made[1] || colors_of(object, in, &made[2]) ||
                 vips_maplut(made[2], &made[3], made[0], NULL) ||
                 (hdr.is_pq ? vips_copy(made[3], &made[4], NULL)
                            : displayed(object, made[3], hdr, &made[4])) ||
                 vips_recomb(made[4], &made[5], made[1], NULL) ||
                 vips_copy(made[5], &made[6], "interpretation", VIPS_INTERPRETATION_scRGB, NULL) ||
                 vips_colourspace(made[6], &made[7], VIPS_INTERPRETATION_RGB16, NULL) ||
                 scaled(made[7], most / UINT16_MAX, format, &made[8]);
    if (!result && vips_image_hasalpha(in)) {
        VipsImage **more = (VipsImage **)vips_object_local_array(object, 3);
        result = vips_extract_band(in, &more[0], in->Bands - 1, NULL) ||
                 scaled(more[0], most / hdr.whole, format, &more[1]) ||
                 vips_bandjoin2(made[8], more[1], &more[2], NULL) ||
                 vips_copy(more[2], out, "interpretation", meaning, NULL);
    } else if (!result) {
        result = vips_copy(made[8], out, "interpretation", meaning, NULL);
    }
    g_object_unref(owner);
    return result ? -1 : 0;
}

static int rescaled(VipsImage *in, double factor, VipsBandFormat format,
                    VipsInterpretation gray, VipsInterpretation colors, VipsImage **out) {
    VipsImage *made;
    *out = NULL;
    if (scaled(in, factor, format, &made)) return -1;
    int result = vips_copy(made, out, "interpretation", in->Bands < 3 ? gray : colors, NULL);
    g_object_unref(made);
    return result;
}

int cvips_widen(cvips_image in, double whole, cvips_image *out) {
    return rescaled(in, UINT16_MAX / whole, VIPS_FORMAT_USHORT, VIPS_INTERPRETATION_GREY16,
                    VIPS_INTERPRETATION_RGB16, out);
}

int cvips_narrow(cvips_image in, cvips_image *out) {
    return rescaled(in, (double)UINT8_MAX / UINT16_MAX, VIPS_FORMAT_UCHAR,
                    VIPS_INTERPRETATION_B_W, VIPS_INTERPRETATION_sRGB, out);
}
