#include <fontconfig/fontconfig.h>
#include <librsvg/rsvg.h>
#include <stdio.h>
#include <string.h>

#include "CRSVGShims.h"

#define DOTS_PER_INCH 96.0
// XML_ERR_NO_MEMORY of libxml2.
#define XML_NO_MEMORY 2

struct crsvg_drawing {
    RsvgHandle *handle;
    // The bounding box of the content if only that determines the size; otherwise empty.
    RsvgRectangle ink;
};

int crsvg_load_fonts(void) {
    return FcInit() ? 0 : -1;
}

// librsvg has one code for all errors. Its text contains the name of cairo's error, or libxml2's
// code followed by libxml2's text, which may quote the file and therefore isn't examined.
static int lacks_memory(const GError *failure) {
    const char *text = failure ? failure->message : "";
    int code = 0;
    if (g_str_has_prefix(text, "XML parse error: "))
        return sscanf(text, "XML parse error: Error domain %*d code %d", &code) == 1 &&
               code == XML_NO_MEMORY;
    return g_str_has_prefix(text, "out of memory") || strstr(text, "NoMemory") != NULL;
}

crsvg_drawing crsvg_open(const void *bytes, size_t count, int *status, char **error) {
    GError *failure = NULL;
    RsvgHandle *handle = rsvg_handle_new_from_data(bytes, count, &failure);
    if (!handle) {
        *status = lacks_memory(failure) ? CRSVG_NO_MEMORY : CRSVG_FAULTY;
        *error = g_strdup(failure ? failure->message : "no reason");
        g_clear_error(&failure);
        return NULL;
    }
    rsvg_handle_set_dpi(handle, DOTS_PER_INCH);
    crsvg_drawing drawing = g_new0(struct crsvg_drawing, 1);
    drawing->handle = handle;
    return drawing;
}

void crsvg_close(crsvg_drawing drawing) {
    g_object_unref(drawing->handle);
    g_free(drawing);
}

// Returns 0 for lengths that depend on the viewport.
static double pixels(RsvgLength length) {
    switch (length.unit) {
    case RSVG_UNIT_PX:
        return length.length;
    case RSVG_UNIT_IN:
        return length.length * DOTS_PER_INCH;
    case RSVG_UNIT_CM:
        return length.length * DOTS_PER_INCH / 2.54;
    case RSVG_UNIT_MM:
        return length.length * DOTS_PER_INCH / 25.4;
    case RSVG_UNIT_PT:
        return length.length * DOTS_PER_INCH / 72;
    case RSVG_UNIT_PC:
        return length.length * DOTS_PER_INCH / 6;
    default:
        return 0;
    }
}

// Determines the size from the view box, and from the one specified side, if any.
static int size_by_view_box(RsvgHandle *handle, double *width, double *height) {
    gboolean has_width, has_height, has_box;
    RsvgLength wide, high;
    RsvgRectangle box;
    rsvg_handle_get_intrinsic_dimensions(handle, &has_width, &wide, &has_height, &high, &has_box,
                                         &box);
    if (!has_box || box.width <= 0 || box.height <= 0)
        return 0;
    double said_width = has_width ? pixels(wide) : 0, said_height = has_height ? pixels(high) : 0;
    double scale = said_width > 0    ? said_width / box.width
                   : said_height > 0 ? said_height / box.height
                                     : 1;
    *width = box.width * scale;
    *height = box.height * scale;
    return 1;
}

// A photo-sized viewport, since 100 % must refer to some size.
#define INK_VIEWPORT 1000

void crsvg_size(crsvg_drawing drawing, double *width, double *height) {
    if (rsvg_handle_get_intrinsic_size_in_pixels(drawing->handle, width, height) ||
        size_by_view_box(drawing->handle, width, height))
        return;
    RsvgRectangle viewport = {0, 0, INK_VIEWPORT, INK_VIEWPORT};
    *width = *height = 0;
    if (rsvg_handle_get_geometry_for_layer(drawing->handle, NULL, &viewport, &drawing->ink, NULL,
                                           NULL)) {
        *width = drawing->ink.width;
        *height = drawing->ink.height;
    }
}

// Cairo uses premultiplied colors in words of blue, green, red and alpha.
static void straighten(unsigned char *pixel, size_t count) {
    for (; count > 0; count--, pixel += 4) {
        guint32 word = *(guint32 *)pixel;
        guint alpha = word >> 24;
        for (int band = 0; band < 3; band++) {
            guint color = word >> (16 - 8 * band) & 0xFF;
            pixel[band] = alpha == 0 ? 0 : MIN(255, (color * 255 + alpha / 2) / alpha);
        }
        pixel[3] = alpha;
    }
}

int crsvg_draw(crsvg_drawing drawing, int width, int height, void *pixels, char **error) {
    cairo_surface_t *surface = cairo_image_surface_create_for_data(pixels, CAIRO_FORMAT_ARGB32,
                                                                   width, height, 4 * width);
    cairo_t *cairo = cairo_create(surface);
    cairo_surface_destroy(surface);
    RsvgRectangle whole = {0, 0, width, height};
    if (drawing->ink.width > 0 && drawing->ink.height > 0) {
        // Without a view box librsvg doesn't scale to the viewport.
        cairo_scale(cairo, width / drawing->ink.width, height / drawing->ink.height);
        cairo_translate(cairo, -drawing->ink.x, -drawing->ink.y);
        whole.width = whole.height = INK_VIEWPORT;
    }
    GError *failure = NULL;
    gboolean is_drawn = rsvg_handle_render_document(drawing->handle, cairo, &whole, &failure);
    cairo_status_t status = cairo_status(cairo);
    cairo_surface_flush(cairo_get_target(cairo));
    cairo_destroy(cairo);
    if (!is_drawn || status != CAIRO_STATUS_SUCCESS) {
        int result = status == CAIRO_STATUS_NO_MEMORY || lacks_memory(failure)
                         ? CRSVG_NO_MEMORY
                         : CRSVG_FAULTY;
        *error = g_strdup(failure ? failure->message : cairo_status_to_string(status));
        g_clear_error(&failure);
        return result;
    }
    straighten(pixels, (size_t)width * (size_t)height);
    return 0;
}

void crsvg_free_text(char *text) {
    g_free(text);
}
