#define _GNU_SOURCE
#include "CLinux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define RESULT(call) ((call) < 0 ? -errno : 0)

const int clinux_o_directory = O_DIRECTORY;
const int clinux_o_nofollow = O_NOFOLLOW;
const int clinux_o_path = O_PATH;

int clinux_openat(int directory, const char *path, int flags, uint32_t mode) {
    int descriptor = openat(directory, path, flags | O_CLOEXEC, (mode_t)mode);
    return descriptor < 0 ? -errno : descriptor;
}

int clinux_open_beneath(int directory, const char *path, int flags, bool follows_links) {
    // Unlike openat, openat2 refuses flags that have no meaning for O_PATH.
    int more = (flags & O_PATH) ? O_CLOEXEC : O_CLOEXEC | O_NOCTTY;
    struct open_how how = {
        .flags = (uint64_t)(flags | more),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS
            | (follows_links ? 0 : RESOLVE_NO_SYMLINKS),
    };
    // glibc has no wrapper for it.
    long descriptor = syscall(SYS_openat2, directory, path, &how, sizeof how);
    return descriptor < 0 ? -errno : (int)descriptor;
}

int clinux_close(int descriptor) { return RESULT(close(descriptor)); }

int64_t clinux_read(int descriptor, void *buffer, size_t count) {
    ssize_t done = read(descriptor, buffer, count);
    return done < 0 ? -errno : done;
}

int64_t clinux_write(int descriptor, const void *buffer, size_t count) {
    ssize_t done = write(descriptor, buffer, count);
    return done < 0 ? -errno : done;
}

int64_t clinux_pread(int descriptor, void *buffer, size_t count, int64_t offset) {
    ssize_t done = pread(descriptor, buffer, count, offset);
    return done < 0 ? -errno : done;
}

int64_t clinux_pwrite(int descriptor, const void *buffer, size_t count, int64_t offset) {
    ssize_t done = pwrite(descriptor, buffer, count, offset);
    return done < 0 ? -errno : done;
}

static void fill(struct clinux_status *status, const struct stat *raw) {
    status->mode = raw->st_mode;
    status->uid = raw->st_uid;
    status->gid = raw->st_gid;
    status->size = (uint64_t)raw->st_size;
    status->device = raw->st_dev;
    status->inode = raw->st_ino;
    status->links = raw->st_nlink;
    status->modified_seconds = raw->st_mtim.tv_sec;
    status->modified_nanoseconds = (uint32_t)raw->st_mtim.tv_nsec;
}

int clinux_fstat(int descriptor, struct clinux_status *status) {
    struct stat raw;
    if (fstat(descriptor, &raw) < 0) return -errno;
    fill(status, &raw);
    return 0;
}

int clinux_fstatat(int directory, const char *name, struct clinux_status *status) {
    struct stat raw;
    if (fstatat(directory, name, &raw, AT_SYMLINK_NOFOLLOW) < 0) return -errno;
    fill(status, &raw);
    return 0;
}

int clinux_fstatfs(int descriptor, struct clinux_filesystem *status) {
    struct statfs raw;
    if (fstatfs(descriptor, &raw) < 0) return -errno;
    status->temporary = raw.f_type == TMPFS_MAGIC;
    status->total_bytes = (uint64_t)raw.f_blocks * (uint64_t)raw.f_bsize;
    status->available_bytes = (uint64_t)raw.f_bavail * (uint64_t)raw.f_bsize;
    return 0;
}

int clinux_flock(int descriptor, int operation) { return RESULT(flock(descriptor, operation)); }

int clinux_fallocate(int descriptor, int64_t offset, int64_t count) {
    return -posix_fallocate(descriptor, offset, count);
}

int clinux_fsync(int descriptor) { return RESULT(fsync(descriptor)); }

int clinux_renameat(int source, const char *name, int target, const char *new_name) {
    return RESULT(renameat(source, name, target, new_name));
}

int clinux_unlinkat(int directory, const char *name, bool is_directory) {
    return RESULT(unlinkat(directory, name, is_directory ? AT_REMOVEDIR : 0));
}

int clinux_mkdirat(int directory, const char *name, uint32_t mode) {
    return RESULT(mkdirat(directory, name, (mode_t)mode));
}

int clinux_fchmod(int descriptor, uint32_t mode) { return RESULT(fchmod(descriptor, mode)); }

int clinux_fchmodat(int directory, const char *name, uint32_t mode) {
    return RESULT(fchmodat(directory, name, mode, 0));
}

int clinux_fchown(int descriptor, uint32_t uid, uint32_t gid) {
    return RESULT(fchown(descriptor, uid, gid));
}

int clinux_duplicate(int descriptor, int lowest) {
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, lowest);
    return copy < 0 ? -errno : copy;
}

int clinux_pipe(int ends[2]) { return RESULT(pipe2(ends, O_CLOEXEC)); }

int clinux_set_nonblocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0) return -errno;
    return RESULT(fcntl(descriptor, F_SETFL, flags | O_NONBLOCK));
}

int64_t clinux_readlink(const char *path, char *buffer, size_t count) {
    ssize_t done = readlink(path, buffer, count);
    return done < 0 ? -errno : done;
}

int64_t clinux_readlinkat(int directory, const char *name, char *buffer, size_t count) {
    ssize_t done = readlinkat(directory, name, buffer, count);
    return done < 0 ? -errno : done;
}

int64_t clinux_getdents(int descriptor, void *buffer, size_t count) {
    ssize_t done = getdents64(descriptor, buffer, count);
    return done < 0 ? -errno : done;
}

int clinux_mkdtemp(char *pattern) { return mkdtemp(pattern) == NULL ? -errno : 0; }
