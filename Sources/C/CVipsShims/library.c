#include <vips/vips.h>

#include "CVipsShims.h"
#include "permits.h"

static void pass_log(const gchar *domain, GLogLevelFlags level, const gchar *message,
                     gpointer log) {
    ((cvips_log)log)((int)(level & G_LOG_LEVEL_MASK), domain ? domain : "", message ? message : "");
}

// What a decoder makes out of order, such as WebP, libvips keeps as a whole: above a threshold in a
// file, which a sandbox refuses. How large pixels become is for the caller to limit; they stay in
// memory.
static void keep_pixels_in_memory(void) {
    g_setenv("VIPS_DISC_THRESHOLD", "1000000g", TRUE);
}

// libvips loads all modules that lie beside it when it starts, also those of ImageMagick, PDF and
// scans of microscopes. It looks for them where `VIPSHOME` says: it is told a place without any.
static int start_without_modules(void) {
    gchar *home = g_strdup(g_getenv("VIPSHOME"));
    g_setenv("VIPSHOME", "/nonexistent", TRUE);
    int status = vips_init("imagebus");
    if (home)
        g_setenv("VIPSHOME", home, TRUE);
    else
        g_unsetenv("VIPSHOME");
    g_free(home);
    return status;
}

int cvips_start(cvips_log log) {
    if (log)
        g_log_set_default_handler(pass_log, (gpointer)log);
    keep_pixels_in_memory();
    if (start_without_modules())
        return -1;
    vips_cache_set_max(0);
    vips_cache_set_max_mem(0);
    vips_cache_set_max_files(0);
    cvips_block_all();
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
