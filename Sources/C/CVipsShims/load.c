#include <vips/vips.h>

#include "CVipsShims.h"

// Rows are asked for from top to bottom, once; whoever needs them in another order copies the
// image to memory first. libvips never writes to the bytes, its parameter only lacks the const.
#define SEQUENTIAL "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_ERROR

int cvips_load_jpeg(const void *bytes, size_t count, int shrink, cvips_image *out) {
    *out = NULL;
    return vips_jpegload_buffer((void *)bytes, count, out, SEQUENTIAL, "shrink", shrink, NULL);
}

int cvips_load_png(const void *bytes, size_t count, cvips_image *out) {
    *out = NULL;
    return vips_pngload_buffer((void *)bytes, count, out, SEQUENTIAL, NULL);
}

int cvips_load_webp(const void *bytes, size_t count, double scale, cvips_image *out) {
    *out = NULL;
    return vips_webpload_buffer((void *)bytes, count, out, SEQUENTIAL, "scale", scale, "page", 0,
                                "n", 1, NULL);
}

int cvips_load_gif(const void *bytes, size_t count, cvips_image *out) {
    *out = NULL;
    return vips_gifload_buffer((void *)bytes, count, out, SEQUENTIAL, "page", 0, "n", 1, NULL);
}
