// dladdr is GNU's.
#define _GNU_SOURCE
#include "modules.h"

#include <dlfcn.h>
#include <gmodule.h>
#include <stdlib.h>
#include <vips/vips.h>

// libvips loads all modules that lie beside it when it starts, also those of ImageMagick, PDF and
// scans of microscopes. `VIPSHOME` says where it looks for them: it is told a place without any.

// Where the modules are; NULL where libvips has loaded those that it found.
static gchar *modules = NULL;

// Beside the file of libvips, whatever the names of links to it.
static gchar *folder_beside_library(void) {
    Dl_info library;
    if (!dladdr(dlsym(RTLD_DEFAULT, "vips_init"), &library))
        return NULL;
    char *file = realpath(library.dli_fname, NULL);
    if (!file)
        return NULL;
    gchar *folder = g_path_get_dirname(file);
    gchar *path =
        g_strdup_printf("%s/vips-modules-%d.%d", folder, vips_version(0), vips_version(1));
    g_free(folder);
    free(file);
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
        return path;
    g_free(path);
    return NULL;
}

int cvips_init_without_modules(const char *program) {
    // Whoever sets it has arranged the modules otherwise.
    if (!g_getenv("VIPSHOME"))
        modules = folder_beside_library();
    if (!modules)
        return vips_init(program);
    g_setenv("VIPSHOME", "/nonexistent", TRUE);
    int status = vips_init(program);
    g_unsetenv("VIPSHOME");
    return status;
}

void cvips_load_module(const char *name) {
    if (!modules)
        return;
    gchar *path = g_strdup_printf("%s/vips-%s." G_MODULE_SUFFIX, modules, name);
    if (g_file_test(path, G_FILE_TEST_EXISTS) && !g_module_open(path, G_MODULE_BIND_LAZY))
        g_warning("%s cannot be loaded: %s", path, g_module_error());
    g_free(path);
}
