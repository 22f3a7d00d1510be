#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

// The child starts with no blocked signals and default signal actions. The parent blocks the
// signals that it reads from a signalfd, and a child that inherited the mask would never receive
// SIGTERM.
static int set_attributes(posix_spawnattr_t *attributes, bool new_group) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (new_group) flags |= POSIX_SPAWN_SETPGROUP;
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0) error = posix_spawnattr_setsigdefault(attributes, &all);
    if (error == 0) error = posix_spawnattr_setpgroup(attributes, 0);
    if (error == 0) error = posix_spawnattr_setflags(attributes, flags);
    return error;
}

static int add_descriptor(
    posix_spawn_file_actions_t *actions, const struct clinux_descriptor *descriptor) {
    if (descriptor->parent == -2) return 0;
    // glibc ignores EBADF here, so closing a number that isn't open is permitted.
    if (descriptor->parent == -3)
        return posix_spawn_file_actions_addclose(actions, descriptor->child);
    if (descriptor->parent == -1)
        return posix_spawn_file_actions_addopen(
            actions, descriptor->child, "/dev/null", O_RDWR, 0);
    return posix_spawn_file_actions_adddup2(actions, descriptor->parent, descriptor->child);
}

static int set_actions(
    posix_spawn_file_actions_t *actions, const struct clinux_descriptor *descriptors,
    size_t descriptor_count, int close_from, const char *directory) {
    int error = 0;
    for (size_t i = 0; i < descriptor_count && error == 0; i++)
        error = add_descriptor(actions, &descriptors[i]);
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(actions, close_from);
    if (error == 0 && directory != NULL)
        error = posix_spawn_file_actions_addchdir_np(actions, directory);
    return error;
}

int clinux_spawn(
    int32_t *pid, const char *path, char *const *arguments, char *const *environment,
    const struct clinux_descriptor *descriptors, size_t descriptor_count, int close_from,
    const char *directory, bool new_group) {
    posix_spawnattr_t attributes;
    int error = posix_spawnattr_init(&attributes);
    if (error != 0) return -error;
    posix_spawn_file_actions_t actions;
    error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        error = set_attributes(&attributes, new_group);
        if (error == 0)
            error = set_actions(&actions, descriptors, descriptor_count, close_from, directory);
        if (error == 0)
            error = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
        posix_spawn_file_actions_destroy(&actions);
    }
    posix_spawnattr_destroy(&attributes);
    return -error;
}
