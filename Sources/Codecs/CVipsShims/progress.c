#include <stdlib.h>
#include <vips/vips.h>

#include "CVipsShims.h"

typedef struct {
    cvips_stop stop;
    void *context;
    cvips_release release;
} watcher;

static void on_eval(VipsImage *image, VipsProgress *progress, gpointer data) {
    (void)progress;
    watcher *watch = data;
    if (watch->stop(watch->context))
        vips_image_set_kill(image, TRUE);
}

static void on_closure_end(gpointer data, GClosure *closure) {
    (void)closure;
    watcher *watch = data;
    watch->release(watch->context);
    free(watch);
}

void cvips_watch(cvips_image image, cvips_stop stop, void *context, cvips_release release) {
    watcher *watch = malloc(sizeof *watch);
    if (!watch)
        abort();
    *watch = (watcher){stop, context, release};
    vips_image_set_progress(image, TRUE);
    g_signal_connect_data(image, "eval", G_CALLBACK(on_eval), watch, on_closure_end, 0);
}
