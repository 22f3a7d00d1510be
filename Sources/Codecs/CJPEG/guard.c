#include "guard.h"

#include <string.h>

#include <jerror.h>

// libvips stops reading at the hundredth warning; this decoder must behave identically.
enum { WARNINGS_MAX = 100 };

static cjpeg_status status_of(int code) {
    switch (code) {
    case JERR_OUT_OF_MEMORY:
    case JERR_NO_BACKING_STORE:
        return CJPEG_NO_MEMORY;
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_COMPONENT_COUNT:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_EMPTY_IMAGE:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_IMAGE_TOO_BIG:
    case JERR_NOT_COMPILED:
    case JERR_NOTIMPL:
    case JERR_SOF_UNSUPPORTED:
    case JERR_UNKNOWN_MARKER: // as its text states, and as it counts in libvips
    case JERR_WIDTH_OVERFLOW:
        return CJPEG_UNSUPPORTED;
    case JERR_BAD_BUFFER_MODE:
    case JERR_BAD_DCTSIZE:
    case JERR_BAD_IN_COLORSPACE:
    case JERR_BAD_J_COLORSPACE:
    case JERR_BAD_LIB_VERSION:
    case JERR_BAD_POOL_ID:
    case JERR_BAD_STATE:
    case JERR_BAD_STRUCT_SIZE:
    case JERR_BAD_VIRTUAL_ACCESS:
    case JERR_BUFFER_SIZE:
    case JERR_TOO_LITTLE_DATA:
    case JERR_VIRTUAL_BUG:
        return CJPEG_INTERNAL;
    default:
        return CJPEG_CORRUPT;
    }
}

static void on_error(j_common_ptr jpeg) {
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    cjpeg_fail(jpeg, status_of(jpeg->err->msg_code), text);
}

static void on_message(j_common_ptr jpeg, int level) {
    int code = jpeg->err->msg_code;
    if (level < 0 && (code == JWRN_HIT_MARKER || code == JWRN_MUST_RESYNC))
        cjpeg_guard_of(jpeg)->lacks_data = 1;
    if (level >= 0 || cjpeg_guard_of(jpeg)->passes_warnings)
        return;
    if (++jpeg->err->num_warnings >= WARNINGS_MAX)
        on_error(jpeg);
}

static void on_output(j_common_ptr jpeg) {
    (void)jpeg; // libjpeg's default writes to stderr
}

struct jpeg_error_mgr *cjpeg_guard_errors(cjpeg_guard *guard) {
    jpeg_std_error(&guard->errors);
    guard->errors.error_exit = on_error;
    guard->errors.emit_message = on_message;
    guard->errors.output_message = on_output;
    return &guard->errors;
}

cjpeg_guard *cjpeg_guard_of(j_common_ptr jpeg) {
    return (cjpeg_guard *)jpeg->err;
}

void cjpeg_fail(j_common_ptr jpeg, cjpeg_status status, const char *text) {
    cjpeg_guard *guard = cjpeg_guard_of(jpeg);
    guard->failure->status = status;
    strncpy(guard->failure->text, text, CJPEG_TEXT_MAX - 1);
    guard->failure->text[CJPEG_TEXT_MAX - 1] = 0;
    longjmp(guard->escape, 1);
}

void cjpeg_ask(j_common_ptr jpeg) {
    cjpeg_guard *guard = cjpeg_guard_of(jpeg);
    if (guard->stop && guard->stop(guard->context))
        cjpeg_fail(jpeg, CJPEG_CANCELLED, "stopped by the caller");
}
