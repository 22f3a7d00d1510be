#include <webp/mux.h>

#include "CWebP.h"

static cwebp_status status_of(WebPMuxError error) {
    switch (error) {
    case WEBP_MUX_OK:
        return CWEBP_OK;
    case WEBP_MUX_MEMORY_ERROR:
        return CWEBP_NO_MEMORY;
    default:
        return CWEBP_INTERNAL;
    }
}

static WebPMuxError set(WebPMux *mux, const char *name, cwebp_bytes bytes) {
    if (bytes.count == 0)
        return WEBP_MUX_OK;
    WebPData data = {bytes.bytes, bytes.count};
    return WebPMuxSetChunk(mux, name, &data, 0);
}

cwebp_status cwebp_enclose(cwebp_bytes file, cwebp_bytes profile, cwebp_bytes exif, cwebp_bytes xmp,
                           cwebp_sink sink, void *context) {
    WebPData data = {file.bytes, file.count};
    WebPMux *mux = WebPMuxCreate(&data, 0);
    if (!mux)
        return CWEBP_INTERNAL;
    WebPMuxError error = set(mux, "ICCP", profile);
    if (error == WEBP_MUX_OK)
        error = set(mux, "EXIF", exif);
    if (error == WEBP_MUX_OK)
        error = set(mux, "XMP ", xmp);
    WebPData made;
    WebPDataInit(&made);
    if (error == WEBP_MUX_OK)
        error = WebPMuxAssemble(mux, &made);
    cwebp_status status = status_of(error);
    if (status == CWEBP_OK && !sink(context, made.bytes, made.size))
        status = CWEBP_REFUSED;
    WebPDataClear(&made);
    WebPMuxDelete(mux);
    return status;
}
