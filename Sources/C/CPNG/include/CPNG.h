// libpng's reader of bytes that arrive, without its macros and types, so that Swift can import it.
//
// libpng reports errors with longjmp. Every jump starts and ends inside these functions: no frame
// of the caller lies between, and the caller's callback has returned before a jump begins.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum {
    CPNG_FINE = 0,
    CPNG_CORRUPT,
    CPNG_STOPPED,
    CPNG_NO_MEMORY,
    // The file has another size or other samples than the caller says.
    CPNG_MISFIT,
} cpng_status;

enum { CPNG_TEXT_MAX = 200 };

// What went wrong; the text is libpng's.
typedef struct {
    cpng_status status;
    char text[CPNG_TEXT_MAX];
} cpng_failure;

// Asked on every row; non-zero ends the work with CPNG_STOPPED.
typedef int (*cpng_stop)(void *context);

typedef struct {
    int width;
    int height;
    // 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha: palettes and transparent colours resolved.
    int bands;
    // 1, or 2 in the machine's order.
    int bytes_per_band;
} cpng_form;

// Writes the rows that `bytes` have, without padding, and leaves the others as they are. Of an
// interlaced file each pass fills the blocks that later ones refine. `rows` gets the last row that
// was written, counted from 1; 0: there is none yet. What is corrupt behind a row ends the reading.
// `is_whole` gets whether all rows were written, and no sum of their chunks that is there is wrong.
cpng_status cpng_read_beginning(const void *bytes, size_t count, cpng_form form, uint8_t *pixels,
                                cpng_stop stop, void *context, int *rows, int *is_whole,
                                cpng_failure *failure);

#define CPNG_NO_INFLATE_LIMIT UINT64_MAX

// zlib's `inflate` has no limit, for any library of the process.
void cpng_lift_inflate_limit(void);

// It fails until bytes are permitted, and beyond these; `each` of them come with every permission.
void cpng_limit_inflate(uint64_t each);

// So many bytes more, at most 2^48; nothing where there is no limit.
void cpng_permit_inflate(uint64_t bytes);

// Whether more was to be inflated since the limit was set.
int cpng_is_inflate_exceeded(void);
