#include <vips/vips.h>

#include "CVipsShims.h"

static VipsInterpretation meaning_of(int bands, int bytes) {
    if (bytes == 2)
        return bands < 3 ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_RGB16;
    return bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB;
}

int cvips_wrap(const void *pixels, size_t count, int width, int height, int bands, int bytes,
               int is_cmyk, cvips_image *out) {
    *out = vips_image_new_from_memory(pixels, count, width, height, bands,
                                      bytes == 2 ? VIPS_FORMAT_USHORT : VIPS_FORMAT_UCHAR);
    if (!*out)
        return -1;
    // The image is new and not shared yet, so its header may be modified.
    (*out)->Type = is_cmyk ? VIPS_INTERPRETATION_CMYK : meaning_of(bands, bytes);
    return 0;
}

int cvips_blank(int width, int height, int bands, int bytes, cvips_image *out) {
    *out = NULL;
    VipsImage *black = NULL, *samples = NULL;
    if (vips_black(&black, width, height, "bands", bands, NULL))
        return -1;
    int result = vips_cast(black, &samples, bytes == 2 ? VIPS_FORMAT_USHORT : VIPS_FORMAT_UCHAR,
                           NULL);
    g_object_unref(black);
    if (result)
        return -1;
    result = vips_copy(samples, out, "interpretation", meaning_of(bands, bytes), NULL);
    g_object_unref(samples);
    return result;
}

int cvips_copy_memory(cvips_image in, cvips_image *out) {
    *out = vips_image_copy_memory(in);
    return *out ? 0 : -1;
}

static int is_whole(cvips_image in) {
    return in->BandFmt == VIPS_FORMAT_UCHAR || in->BandFmt == VIPS_FORMAT_USHORT;
}

const void *cvips_pixels(cvips_image in, size_t *count) {
    if (!is_whole(in)) {
        vips_error("imagebus", "samples of another size than 8 or 16 bits");
        return NULL;
    }
    if (vips_image_wio_input(in))
        return NULL;
    *count = VIPS_IMAGE_SIZEOF_IMAGE(in);
    return VIPS_IMAGE_ADDR(in, 0, 0);
}

int cvips_write(cvips_image in, void *pixels, size_t count) {
    if (!is_whole(in) || VIPS_IMAGE_SIZEOF_IMAGE(in) != count) {
        vips_error("imagebus", "image of %zu bytes written to a block of %zu",
                   (size_t)VIPS_IMAGE_SIZEOF_IMAGE(in), count);
        return -1;
    }
    VipsImage *target = vips_image_new_from_memory(pixels, count, in->Xsize, in->Ysize, in->Bands,
                                                   in->BandFmt);
    if (!target)
        return -1;
    int result = vips_image_write(in, target);
    g_object_unref(target);
    return result;
}
