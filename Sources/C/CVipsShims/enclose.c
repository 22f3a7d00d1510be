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

int cvips_state_bits(cvips_image in, int bits, cvips_image *out) {
    *out = NULL;
    if (vips_copy(in, out, NULL))
        return -1;
    vips_image_set_int(*out, "heif-bitdepth", bits);
    return 0;
}
