// Shared by decoding and encoding: error handling, the jump target, and cancellation.
#pragma once

#include <setjmp.h>
#include <stdio.h> // before jpeglib.h, which needs it

#include <jpeglib.h>

#include "CJPEG.h"

typedef struct {
    struct jpeg_error_mgr errors; // must be first: libjpeg passes its address
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    int passes_warnings; // any number of them
    int lacks_data; // an interval had fewer bits than it needs
    cjpeg_failure *failure;
    cjpeg_stop stop;
    void *context;
} cjpeg_guard;

// Initializes `errors` and returns it, for the `err` of a libjpeg object.
struct jpeg_error_mgr *cjpeg_guard_errors(cjpeg_guard *guard);
cjpeg_guard *cjpeg_guard_of(j_common_ptr jpeg);
// Records the failure and jumps to `escape`.
_Noreturn void cjpeg_fail(j_common_ptr jpeg, cjpeg_status status, const char *text);
// Fails with CJPEG_CANCELLED if the caller cancels.
void cjpeg_ask(j_common_ptr jpeg);
