// Limits the bytes that zlib inflates in this process.
//
// libpng inflates everything in its chunks, long after the pixels are complete, and has no limit
// for it: 2 MB of IDAT can be 2 GB. This `inflate` is in the program, so the dynamic linker binds
// libpng to it; it counts the bytes and forwards the work to zlib's own.
#define _GNU_SOURCE

#include <dlfcn.h>
#include <stdatomic.h>

#include <zlib.h>

#include "CPNG.h"

typedef int (*inflate_function)(z_streamp, int);

static inflate_function zlib_inflate;
static _Atomic uint64_t left = CPNG_NO_INFLATE_LIMIT;
static _Atomic uint64_t extra;
static atomic_bool is_exceeded;

// Runs before the sandbox is applied and before there are threads.
__attribute__((constructor)) static void find_inflate(void) {
    zlib_inflate = (inflate_function)dlsym(RTLD_NEXT, "inflate");
}

void cpng_lift_inflate_limit(void) {
    atomic_store(&is_exceeded, 0);
    atomic_store(&left, CPNG_NO_INFLATE_LIMIT);
}

void cpng_limit_inflate(uint64_t each) {
    atomic_store(&is_exceeded, 0);
    atomic_store(&extra, each);
    atomic_store(&left, 0);
}

void cpng_permit_inflate(uint64_t bytes) {
    uint64_t more = bytes + atomic_load(&extra);
    uint64_t now = atomic_load(&left);
    while (now != CPNG_NO_INFLATE_LIMIT &&
           !atomic_compare_exchange_weak(&left, &now, now + more)) {
    }
}

int cpng_is_inflate_exceeded(void) {
    return atomic_load(&is_exceeded);
}

static void count(uint64_t bytes) {
    uint64_t now = atomic_load(&left);
    while (now != CPNG_NO_INFLATE_LIMIT &&
           !atomic_compare_exchange_weak(&left, &now, now > bytes ? now - bytes : 0)) {
    }
}

// A call inflates at most its caller's buffer size, so the limit is exceeded by no more than that.
int inflate(z_streamp stream, int flush) {
    if (!zlib_inflate)
        return Z_STREAM_ERROR;
    if (!atomic_load(&left)) {
        atomic_store(&is_exceeded, 1);
        stream->msg = (char *)"more than is permitted";
        return Z_DATA_ERROR;
    }
    uLong before = stream->total_out;
    int code = zlib_inflate(stream, flush);
    count(stream->total_out - before);
    return code;
}
