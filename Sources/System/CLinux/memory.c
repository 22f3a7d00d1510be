#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>

int clinux_map(int descriptor, int64_t offset, size_t count, bool writable, void **address) {
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *mapped = mmap(NULL, count, protection, MAP_SHARED, descriptor, offset);
    if (mapped == MAP_FAILED) return -errno;
    *address = mapped;
    return 0;
}

int clinux_unmap(void *address, size_t count) { return munmap(address, count) < 0 ? -errno : 0; }

int clinux_populate(void *address, size_t count, bool for_writing) {
    int advice = for_writing ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
    return madvise(address, count, advice) < 0 ? -errno : 0;
}

int64_t clinux_getrandom(void *buffer, size_t count) {
    ssize_t done = getrandom(buffer, count, 0);
    return done < 0 ? -errno : done;
}

int clinux_memory_file(const char *name) {
    int descriptor = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return descriptor < 0 ? -errno : descriptor;
}

int clinux_seal(int descriptor) {
    int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    return fcntl(descriptor, F_ADD_SEALS, seals) < 0 ? -errno : 0;
}
