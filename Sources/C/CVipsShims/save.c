#include <vips/vips.h>

#include "CVipsShims.h"

typedef struct {
    cvips_sink sink;
    void *context;
} destination;

static gint64 pass_on(VipsTargetCustom *target, const void *bytes, gint64 count, gpointer data) {
    (void)target;
    destination *to = data;
    return to->sink(to->context, bytes, (size_t)count) ? -1 : count;
}

static VipsTarget *target_new(destination *to) {
    VipsTargetCustom *target = vips_target_custom_new();
    g_signal_connect(target, "write", G_CALLBACK(pass_on), to);
    return VIPS_TARGET(target);
}

int cvips_save_jpeg(cvips_image in, cvips_jpeg_options options, cvips_sink sink, void *context) {
    destination to = {sink, context};
    VipsTarget *target = target_new(&to);
    int result = vips_jpegsave_target(
        in, target, "Q", options.quality, "interlace", options.progressive, "optimize_coding",
        options.optimise_coding, "subsample_mode", options.subsampling, "strip", options.strip,
        NULL);
    g_object_unref(target);
    return result;
}

int cvips_save_png(cvips_image in, cvips_png_options options, cvips_sink sink, void *context) {
    destination to = {sink, context};
    VipsTarget *target = target_new(&to);
    int result =
        options.palette.bits
            ? vips_pngsave_target(in, target, "compression", options.compression, "filter",
                                  options.filter_bits, "interlace", options.interlace, "palette",
                                  TRUE, "bitdepth", options.palette.bits, "Q",
                                  options.palette.quality, "dither", options.palette.dither,
                                  "effort", options.palette.effort, "strip", options.strip, NULL)
            : vips_pngsave_target(in, target, "compression", options.compression, "filter",
                                  options.filter_bits, "interlace", options.interlace, "strip",
                                  options.strip, NULL);
    g_object_unref(target);
    return result;
}

int cvips_save_webp(cvips_image in, cvips_webp_options options, cvips_sink sink, void *context) {
    destination to = {sink, context};
    VipsTarget *target = target_new(&to);
    int result = vips_webpsave_target(in, target, "Q", options.quality, "lossless",
                                      options.lossless, "effort", options.effort, "strip",
                                      options.strip, NULL);
    g_object_unref(target);
    return result;
}
