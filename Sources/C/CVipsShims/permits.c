// RTLD_DEFAULT and dladdr are GNU's.
#define _GNU_SOURCE
#include "permits.h"

#include <dlfcn.h>
#include <gmodule.h>
#include <vips/vips.h>

#include "CVipsShims.h"

// libvips can open dozens of formats, some through libraries of doubtful safety: all loaders are
// blocked until one is permitted by its name, and what a format needs is loaded no sooner.

static GMutex lock;
// GTypes of what is permitted.
static GSList *permitted = NULL;

static void set_blocked(gpointer type, gpointer is_blocked) {
    vips_operation_block_set(g_type_name(GPOINTER_TO_SIZE(type)), GPOINTER_TO_INT(is_blocked));
}

void cvips_block_all(void) {
    vips_block_untrusted_set(TRUE);
    vips_operation_block_set("VipsForeignLoad", TRUE);
}

// The module of that name, which lies beside libvips, unless libvips has it inside. What comes with
// it is blocked.
static void load_module(const char *name) {
    Dl_info libvips;
    if (!dladdr(dlsym(RTLD_DEFAULT, "vips_init"), &libvips))
        return;
    gchar *folder = g_path_get_dirname(libvips.dli_fname);
    gchar *path = g_strdup_printf("%s/vips-modules-%d.%d/vips-%s." G_MODULE_SUFFIX, folder,
                                  vips_version(0), vips_version(1), name);
    if (g_module_open(path, G_MODULE_BIND_LAZY)) {
        cvips_block_all();
        g_slist_foreach(permitted, set_blocked, GINT_TO_POINTER(FALSE));
    }
    g_free(path);
    g_free(folder);
}

static int permit(const char *base, const char *name, const char *module) {
    g_mutex_lock(&lock);
    GType type = vips_type_find(base, name);
    if (type == 0 && module) {
        load_module(module);
        type = vips_type_find(base, name);
    }
    if (type) {
        gpointer known = GSIZE_TO_POINTER(type);
        if (!g_slist_find(permitted, known))
            permitted = g_slist_prepend(permitted, known);
        set_blocked(known, GINT_TO_POINTER(FALSE));
    }
    g_mutex_unlock(&lock);
    return type ? 0 : -1;
}

int cvips_permit_loader(const char *name, const char *module) {
    return permit("VipsForeignLoad", name, module);
}

int cvips_permit_saver(const char *name, const char *module) {
    return permit("VipsForeignSave", name, module);
}
