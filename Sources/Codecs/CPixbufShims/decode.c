#include <gdk-pixbuf/gdk-pixbuf.h>

#include "CPixbufShims.h"

typedef struct {
    cpixbuf_image image;
    int rows;
} load;

int cpixbuf_load(const char *name) {
    GdkPixbufLoader *loader = gdk_pixbuf_loader_new_with_type(name, NULL);
    if (!loader)
        return -1;
    gdk_pixbuf_loader_close(loader, NULL);
    g_object_unref(loader);
    return 0;
}

// With a size of 0 a loader allocates no pixels.
static void check_size(GdkPixbufLoader *loader, int width, int height, gpointer data) {
    load *state = data;
    if (width != state->image.width || height != state->image.height)
        gdk_pixbuf_loader_set_size(loader, 0, 0);
}

// The memory may have held another image, and bytes for a part of the pixels may be missing.
static void clear(GdkPixbufLoader *loader, gpointer data) {
    (void)data;
    GdkPixbuf *pixbuf = gdk_pixbuf_loader_get_pixbuf(loader);
    memset(gdk_pixbuf_get_pixels(pixbuf), 0, gdk_pixbuf_get_byte_length(pixbuf));
}

static void count_rows(GdkPixbufLoader *loader, int x, int y, int width, int height,
                       gpointer data) {
    (void)loader, (void)x, (void)y, (void)width;
    load *state = data;
    state->rows += height;
}

static void copy_row(const guchar *from, int channels, guchar *to, cpixbuf_image image) {
    for (int x = 0; x < image.width; x++, from += channels, to += image.bands) {
        memcpy(to, from, 3);
        if (image.bands == 4)
            to[3] = channels == 4 ? from[3] : 255;
    }
}

// Returns NULL if the pixbuf has the expected size and all rows.
static const char *copy(GdkPixbuf *pixbuf, load *state, guchar *pixels) {
    cpixbuf_image image = state->image;
    if (!pixbuf || gdk_pixbuf_get_width(pixbuf) != image.width ||
        gdk_pixbuf_get_height(pixbuf) != image.height || state->rows < image.height)
        return "the pixels are not those of the header";
    for (int y = 0; y < image.height; y++)
        copy_row(gdk_pixbuf_read_pixels(pixbuf) + (size_t)y * gdk_pixbuf_get_rowstride(pixbuf),
                 gdk_pixbuf_get_n_channels(pixbuf),
                 pixels + (size_t)y * image.width * image.bands, image);
    return NULL;
}

static int status_of(const GError *failure) {
    return g_error_matches(failure, GDK_PIXBUF_ERROR, GDK_PIXBUF_ERROR_INSUFFICIENT_MEMORY)
               ? CPIXBUF_NO_MEMORY
               : CPIXBUF_FAULTY;
}

int cpixbuf_decode(cpixbuf_image image, const void *bytes, size_t count, void *pixels,
                   char **error) {
    GError *failure = NULL;
    load state = {.image = image};
    GdkPixbufLoader *loader = gdk_pixbuf_loader_new_with_type(image.loader, &failure);
    if (loader) {
        g_signal_connect(loader, "size-prepared", G_CALLBACK(check_size), &state);
        g_signal_connect(loader, "area-prepared", G_CALLBACK(clear), &state);
        g_signal_connect(loader, "area-updated", G_CALLBACK(count_rows), &state);
        // The loader is always closed; only the first failure is reported.
        gboolean is_read = gdk_pixbuf_loader_write(loader, bytes, count, &failure);
        gdk_pixbuf_loader_close(loader, is_read ? &failure : NULL);
    }
    const char *fault =
        failure ? failure->message : copy(gdk_pixbuf_loader_get_pixbuf(loader), &state, pixels);
    int status = fault ? status_of(failure) : 0;
    if (fault)
        *error = g_strdup(fault);
    g_clear_error(&failure);
    g_clear_object(&loader);
    return status;
}

void cpixbuf_free_text(char *text) {
    g_free(text);
}
