#include <vips/vips.h>

#include "CVipsShims.h"

static void set(VipsImage *image, const char *name, cvips_bytes value) {
    if (value.bytes)
        vips_image_set_blob_copy(image, name, value.bytes, value.count);
}

int cvips_enclose(cvips_image in, cvips_bytes profile, cvips_bytes xmp, cvips_image *out) {
    *out = NULL;
    if (vips_copy(in, out, NULL))
        return -1;
    set(*out, VIPS_META_ICC_NAME, profile);
    set(*out, VIPS_META_XMP_NAME, xmp);
    return 0;
}

static void *copy_exif(VipsImage *from, const char *name, GValue *value, void *to) {
    (void)from;
    if (g_str_has_prefix(name, "exif-"))
        vips_image_set(to, name, value);
    return NULL;
}

int cvips_enclose_exif(cvips_image in, cvips_image from, cvips_image *out) {
    *out = NULL;
    if (vips_copy(in, out, NULL))
        return -1;
    vips_image_map(from, copy_exif, *out);
    return 0;
}

int cvips_state(cvips_image in, const char *name, int number, cvips_image *out) {
    *out = NULL;
    if (vips_copy(in, out, NULL))
        return -1;
    vips_image_set_int(*out, name, number);
    return 0;
}
