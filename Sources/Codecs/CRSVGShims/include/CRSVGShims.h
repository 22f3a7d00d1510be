// The parts of librsvg and cairo needed to open and draw an SVG.
#pragma once

#include <stddef.h>

typedef struct crsvg_drawing *crsvg_drawing;

// Loads the machine's font configuration, so that text can be drawn when only font files are still
// readable. Returns 0, or -1 if there is none.
int crsvg_load_fonts(void);

// Why a drawing can't be parsed or drawn.
enum { CRSVG_FAULTY = -1, CRSVG_NO_MEMORY = -2 };

// Parses a drawing; the required parts of the bytes are copied. Returns NULL with one of these in
// `status` and a text in `error`, to be freed with `crsvg_free_text`. It has no base URL, so
// nothing outside of it is read.
crsvg_drawing crsvg_open(const void *bytes, size_t count, int *status, char **error);
void crsvg_close(crsvg_drawing drawing);
// Outputs the fractional size in pixels at 96 per inch; 0 if it has no size.
void crsvg_size(crsvg_drawing drawing, double *width, double *height);
// Draws the whole image as `width` × `height` pixels of straight-alpha RGBA, four bytes each.
// Returns 0, or one of the above with a text in `error`.
int crsvg_draw(crsvg_drawing drawing, int width, int height, void *pixels, char **error);
void crsvg_free_text(char *text);
