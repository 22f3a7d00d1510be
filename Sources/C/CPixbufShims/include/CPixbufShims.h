// gdk-pixbuf's loaders, each by its name: none is chosen by what the bytes look like.
#pragma once

#include <stddef.h>

typedef struct {
    // `bmp` or `ico`.
    const char *loader;
    // What the header says. An image of another size is refused before there are pixels of it.
    int width;
    int height;
    // 3: without the alpha that the loader makes; 4: opaque where it makes none.
    int bands;
} cpixbuf_image;

// Loads a loader, which may be a module. 0, or -1 where this machine has no such loader.
int cpixbuf_load(const char *loader);
// All pixels into `pixels`, which has `width` × `height` × `bands` bytes; those that the bytes say
// nothing of are 0. 0, or -1 with a text in `error`, which `cpixbuf_free_text` frees.
int cpixbuf_decode(cpixbuf_image image, const void *bytes, size_t count, void *pixels,
                   char **error);
void cpixbuf_free_text(char *text);
