#include <vips/vips.h>

#include "CVipsShims.h"

int cvips_flatten(cvips_image in, double red, double green, double blue, cvips_image *out) {
    *out = NULL;
    const double colour[] = {red, green, blue};
    VipsArrayDouble *background = vips_array_double_new(colour, in->Bands < 3 ? 1 : 3);
    int result = vips_flatten(in, out, "background", background, NULL);
    vips_area_unref(VIPS_AREA(background));
    return result;
}

int cvips_add_alpha(cvips_image in, cvips_image *out) {
    *out = NULL;
    return vips_addalpha(in, out, NULL);
}
