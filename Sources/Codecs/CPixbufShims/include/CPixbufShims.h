// gdk-pixbuf's loaders, selected by name rather than by the content of the bytes.
#pragma once

#include <stddef.h>

typedef struct {
    // `bmp` or `ico`.
    const char *loader;
    // The size in the header. An image of another size is refused before its pixels are allocated.
    int width;
    int height;
    // 3 drops the loader's alpha; 4 adds opaque alpha if there is none.
    int bands;
} cpixbuf_image;

// Loads a loader, which may be in a module. Returns 0, or -1 if this machine doesn't have it.
int cpixbuf_load(const char *loader);
// Decodes all pixels to `pixels`, which has `width` × `height` × `bands` bytes; pixels without data
// are 0. Returns 0, or one of these with a text in `error`, to be freed with `cpixbuf_free_text`.
enum { CPIXBUF_FAULTY = -1, CPIXBUF_NO_MEMORY = -2 };
int cpixbuf_decode(cpixbuf_image image, const void *bytes, size_t count, void *pixels,
                   char **error);
void cpixbuf_free_text(char *text);
