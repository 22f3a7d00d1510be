#include <vips/vips.h>

#include "CVipsShims.h"

static cvips_color color(VipsImage *image) {
    switch (vips_image_guess_interpretation(image)) {
    case VIPS_INTERPRETATION_B_W:
        return CVIPS_COLOR_GRAY;
    case VIPS_INTERPRETATION_GREY16:
        return CVIPS_COLOR_GRAY16;
    case VIPS_INTERPRETATION_sRGB:
    case VIPS_INTERPRETATION_RGB:
        return CVIPS_COLOR_RGB;
    case VIPS_INTERPRETATION_RGB16:
        return CVIPS_COLOR_RGB16;
    case VIPS_INTERPRETATION_CMYK:
        return CVIPS_COLOR_CMYK;
    default:
        return CVIPS_COLOR_OTHER;
    }
}

static cvips_samples samples(VipsBandFormat format) {
    switch (format) {
    case VIPS_FORMAT_UCHAR:
    case VIPS_FORMAT_USHORT:
        return CVIPS_SAMPLES_WHOLE;
    case VIPS_FORMAT_FLOAT:
    case VIPS_FORMAT_DOUBLE:
        return CVIPS_SAMPLES_REAL;
    default:
        return CVIPS_SAMPLES_OTHER;
    }
}

static int flag(VipsImage *image, const char *name) {
    return vips_image_get_typeof(image, name) != 0;
}

void cvips_read_header(cvips_image image, cvips_header *header) {
    header->width = image->Xsize;
    header->height = image->Ysize;
    header->bands = image->Bands;
    header->bytes_per_band = (int)vips_format_sizeof_unsafe(image->BandFmt);
    header->samples = samples(image->BandFmt);
    header->pages = vips_image_get_n_pages(image);
    header->orientation =
        flag(image, VIPS_META_ORIENTATION) ? vips_image_get_orientation(image) : 0;
    header->has_alpha = image->Coding == VIPS_CODING_NONE && vips_image_hasalpha(image);
    header->interlaced = flag(image, "interlaced");
    header->color = color(image);
}

static const void *blob(VipsImage *image, const char *name, size_t *count) {
    const void *bytes = NULL;
    *count = 0;
    if (!flag(image, name) || vips_image_get_blob(image, name, &bytes, count))
        return NULL;
    return bytes;
}

const void *cvips_profile(cvips_image image, size_t *count) {
    return blob(image, VIPS_META_ICC_NAME, count);
}

const void *cvips_xmp(cvips_image image, size_t *count) {
    return blob(image, VIPS_META_XMP_NAME, count);
}

const void *cvips_exif(cvips_image image, size_t *count) {
    return blob(image, VIPS_META_EXIF_NAME, count);
}

const void *cvips_iptc(cvips_image image, size_t *count) {
    return blob(image, VIPS_META_IPTC_NAME, count);
}

const char *cvips_text(cvips_image image, const char *name) {
    const char *text = NULL;
    if (vips_image_get_typeof(image, name) != VIPS_TYPE_REF_STRING ||
        vips_image_get_string(image, name, &text))
        return NULL;
    return text;
}

int cvips_number(cvips_image image, const char *name, int otherwise) {
    int number = otherwise;
    if (vips_image_get_typeof(image, name) == G_TYPE_INT) vips_image_get_int(image, name, &number);
    return number;
}

static void *add_length(VipsImage *image, const char *name, GValue *value, void *sum) {
    (void)image;
    (void)name;
    size_t length = 0;
    if (G_VALUE_HOLDS(value, VIPS_TYPE_BLOB))
        vips_value_get_blob(value, &length);
    else if (G_VALUE_HOLDS(value, VIPS_TYPE_REF_STRING))
        vips_value_get_ref_string(value, &length);
    *(size_t *)sum += length;
    return NULL;
}

size_t cvips_metadata_bytes(cvips_image image) {
    size_t sum = 0;
    vips_image_map(image, add_length, &sum);
    return sum;
}
