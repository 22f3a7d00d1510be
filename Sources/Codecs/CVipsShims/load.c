#include <vips/vips.h>

#include "CVipsShims.h"

// Converts a number to the option's type. Passing an option that the loader lacks is a caller's
// error, which GObject warns about.
static void set_number(VipsOperation *loader, const char *name, double number) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, G_TYPE_DOUBLE);
    g_value_set_double(&value, number);
    g_object_set_property(G_OBJECT(loader), name, &value);
    g_value_unset(&value);
}

// Rows are requested once, from top to bottom; callers that need another order copy the image to
// memory first. libvips never writes to the bytes; its parameter merely lacks the const.
static void set_input(VipsOperation *loader, const void *bytes, size_t count, int may_end) {
    VipsBlob *blob = vips_blob_new(NULL, bytes, count);
    g_object_set(loader, "buffer", blob, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on",
                 may_end ? VIPS_FAIL_ON_NONE : VIPS_FAIL_ON_ERROR, NULL);
    vips_area_unref(VIPS_AREA(blob));
}

// libvips checks this too, but only after the loaders for PDF and HEIF have read the bytes.
static int refuse_blocked(VipsOperation *loader, const char *name) {
    if (!(VIPS_OPERATION_GET_CLASS(loader)->flags & VIPS_OPERATION_BLOCKED))
        return 0;
    vips_error(name, "operation is blocked");
    return -1;
}

int cvips_load(const char *name, const void *bytes, size_t count, int may_end,
               const cvips_option *options, size_t option_count, cvips_image *out) {
    *out = NULL;
    VipsOperation *loader = vips_operation_new(name);
    if (!loader)
        return -1;
    if (refuse_blocked(loader, name)) {
        g_object_unref(loader);
        return -1;
    }
    set_input(loader, bytes, count, may_end);
    for (size_t i = 0; i < option_count; i++)
        set_number(loader, options[i].name, options[i].value);
    int status = vips_cache_operation_buildp(&loader);
    if (status == 0)
        g_object_get(loader, "out", out, NULL);
    vips_object_unref_outputs(VIPS_OBJECT(loader));
    g_object_unref(loader);
    return status;
}
