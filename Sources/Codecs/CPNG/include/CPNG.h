// libpng's progressive reader without its macros and types, so that Swift can import it.
//
// libpng reports errors with longjmp. Every jump starts and ends inside these functions: no frame
// of the caller is in between, and the caller's callback has returned before a jump begins.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The values are those of CodecError.Kind.
typedef enum {
    CPNG_OK = 0,
    CPNG_CORRUPT = 1,
    CPNG_CANCELLED = 4,
    CPNG_NO_MEMORY = 6,
    // The file has another size or sample format than the caller expects.
    CPNG_MISFIT = 7,
} cpng_status;

enum { CPNG_TEXT_MAX = 200 };

// The error with libpng's text.
typedef struct {
    cpng_status status;
    char text[CPNG_TEXT_MAX];
} cpng_failure;

// Called for every row; non-zero ends the work with CPNG_CANCELLED.
typedef int (*cpng_stop)(void *context);

typedef struct {
    int width;
    int height;
    // 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA; palettes and transparent colors are expanded.
    int bands;
    // 1, or 2 in native byte order.
    int bytes_per_band;
} cpng_form;

// Writes the rows that `bytes` contain, without padding, and leaves the others unchanged. In an
// interlaced file each pass fills blocks that later passes refine. `rows` receives the last row
// written, counted from 1, or 0 if there is none. Decoding ends at damaged data after a row.
// `is_whole` receives whether all rows were written and no available checksum of their chunks is
// wrong.
cpng_status cpng_read_beginning(const void *bytes, size_t count, cpng_form form, uint8_t *pixels,
                                cpng_stop stop, void *context, int *rows, int *is_whole,
                                cpng_failure *failure);

#define CPNG_NO_INFLATE_LIMIT UINT64_MAX

// Removes the limit of zlib's `inflate` for all libraries of the process.
void cpng_lift_inflate_limit(void);

// Makes `inflate` fail beyond the permitted bytes, initially 0. Each permission adds another `each`
// bytes.
void cpng_limit_inflate(uint64_t each);

// Permits this many more bytes, at most 2^48. No effect without a limit.
void cpng_permit_inflate(uint64_t bytes);

// Returns whether `inflate` has hit the limit since it was set.
int cpng_is_inflate_exceeded(void);
