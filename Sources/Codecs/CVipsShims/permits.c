#include <vips/vips.h>

#include "CVipsShims.h"
#include "modules.h"
#include "permits.h"

// libvips can open dozens of formats, some with libraries of doubtful safety. All loaders are
// blocked until they are permitted by name, and a format's libraries aren't loaded before that.

static GMutex lock;
// The GTypes of the permitted operations.
static GSList *permitted = NULL;

static gboolean is_permitted(GType type) {
    return g_slist_find(permitted, GSIZE_TO_POINTER(type)) != NULL;
}

// One by one: `vips_operation_block_set` would briefly block operations that another thread uses.
static void *block(VipsObjectClass *class, void *loaders) {
    VipsOperationClass *operation = VIPS_OPERATION_CLASS(class);
    GType type = G_TYPE_FROM_CLASS(class);
    gboolean is_meant = g_type_is_a(type, GPOINTER_TO_SIZE(loaders)) ||
                        operation->flags & VIPS_OPERATION_UNTRUSTED;
    if (is_meant && !is_permitted(type))
        operation->flags |= VIPS_OPERATION_BLOCKED;
    return NULL;
}

void cvips_block_others(void) {
    GType loaders = g_type_from_name("VipsForeignLoad");
    vips_class_map_all(g_type_from_name("VipsOperation"), block, GSIZE_TO_POINTER(loaders));
}

static int permit(const char *base, const char *name, const char *module) {
    g_mutex_lock(&lock);
    GType type = vips_type_find(base, name);
    if (type == 0 && module) {
        cvips_load_module(module);
        cvips_block_others();
        type = vips_type_find(base, name);
    }
    if (type != 0 && !is_permitted(type)) {
        permitted = g_slist_prepend(permitted, GSIZE_TO_POINTER(type));
        vips_operation_block_set(g_type_name(type), FALSE);
    }
    g_mutex_unlock(&lock);
    return type != 0 ? 0 : -1;
}

int cvips_permit_loader(const char *name, const char *module) {
    return permit("VipsForeignLoad", name, module);
}

int cvips_permit_saver(const char *name, const char *module) {
    return permit("VipsForeignSave", name, module);
}
