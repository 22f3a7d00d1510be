#include <vips/vips.h>

#include "CVipsShims.h"
#include "modules.h"
#include "permits.h"

static void pass_log(const gchar *domain, GLogLevelFlags level, const gchar *message,
                     gpointer log) {
    ((cvips_log)log)((int)(level & G_LOG_LEVEL_MASK), domain ? domain : "", message ? message : "");
}

// libvips stores whole images that a decoder produces out of order, such as WebP, and above a
// threshold does so in a file, which a sandbox forbids. Callers must limit the size; pixels stay in
// memory.
static void keep_pixels_in_memory(void) {
    g_setenv("VIPS_DISC_THRESHOLD", "1000000g", TRUE);
}

int cvips_start(cvips_log log) {
    if (log)
        g_log_set_default_handler(pass_log, (gpointer)log);
    keep_pixels_in_memory();
    if (cvips_init_without_modules("imagebus"))
        return -1;
    vips_cache_set_max(0);
    vips_cache_set_max_mem(0);
    vips_cache_set_max_files(0);
    cvips_block_others();
    return 0;
}

void cvips_set_concurrency(int threads) {
    vips_concurrency_set(threads);
}

size_t cvips_memory_in_use(void) {
    return vips_tracked_get_mem();
}

int cvips_files_in_use(void) {
    return vips_tracked_get_files();
}

char *cvips_take_error(void) {
    return vips_error_buffer_copy();
}

void cvips_forget_errors(void) {
    vips_error_clear();
}

void cvips_free(void *memory) {
    g_free(memory);
}

void cvips_unref(cvips_image image) {
    g_object_unref(image);
}
