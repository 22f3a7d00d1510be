// What decoding and encoding share: errors, the way out, and the question whether to stop.
#pragma once

#include <setjmp.h>
#include <stdio.h> // before jpeglib.h, which needs it

#include <jpeglib.h>

#include "CJPEG.h"

typedef struct {
    struct jpeg_error_mgr errors; // first: libjpeg hands out its address
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    int passes_warnings; // however many there are
    int lacks_data; // an interval had fewer bits than it needs
    cjpeg_failure *failure;
    cjpeg_stop stop;
    void *context;
} cjpeg_guard;

// Sets up `errors` and returns it, for the `err` of a libjpeg object.
struct jpeg_error_mgr *cjpeg_guard_errors(cjpeg_guard *guard);
cjpeg_guard *cjpeg_guard_of(j_common_ptr jpeg);
// Notes the failure and leaves for `escape`.
_Noreturn void cjpeg_fail(j_common_ptr jpeg, cjpeg_status status, const char *text);
// Fails with CJPEG_STOPPED where the caller wants the end.
void cjpeg_ask(j_common_ptr jpeg);
