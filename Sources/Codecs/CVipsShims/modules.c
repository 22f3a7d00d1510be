// dladdr is a GNU extension.
#define _GNU_SOURCE
#include "modules.h"

#include <dlfcn.h>
#include <gmodule.h>
#include <stdlib.h>
#include <vips/vips.h>

// On startup libvips loads all modules next to it, including those for ImageMagick, PDF and
// microscope slides. `VIPSHOME` determines where it looks, so it's set to a directory without
// modules.

// The modules' directory; NULL if libvips has loaded the modules it found.
static gchar *modules = NULL;

// Next to libvips' actual file, whatever its links are called.
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
    // If it's set, the modules have been arranged deliberately.
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
