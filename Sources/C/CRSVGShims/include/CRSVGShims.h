// librsvg and the surfaces of cairo, as far as a drawing is opened and drawn.
#pragma once

#include <stddef.h>

typedef struct crsvg_drawing *crsvg_drawing;

// Reads the fonts of this machine, so that texts are drawn where files cannot be read any more but
// those of fonts. 0, or -1 where there is no configuration of them.
int crsvg_load_fonts(void);

// A drawing of these bytes, which are copied as far as they are needed; NULL with a text in
// `error`, which `crsvg_free_text` frees. It has no address, so nothing outside of it is read.
crsvg_drawing crsvg_open(const void *bytes, size_t count, char **error);
void crsvg_close(crsvg_drawing drawing);
// Pixels at 96 to the inch, with fractions; 0 where it has no size.
void crsvg_size(crsvg_drawing drawing, double *width, double *height);
// All of it in `width` × `height` pixels of red, green, blue and straight alpha; `pixels` has four
// bytes for each. 0, or one of these with a text in `error`.
enum { CRSVG_FAULTY = -1, CRSVG_NO_MEMORY = -2 };
int crsvg_draw(crsvg_drawing drawing, int width, int height, void *pixels, char **error);
void crsvg_free_text(char *text);
