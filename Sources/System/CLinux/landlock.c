#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Own numbers and structures, since the build's headers may be older than the kernel. The numbers
// are the same on all architectures.
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define VERSION_FLAG 1u
#define PATH_BENEATH 1

struct ruleset {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

struct path_beneath {
    uint64_t access;
    int32_t directory;
} __attribute__((packed));

int clinux_landlock_version(void) {
    long version = syscall(CREATE_RULESET, NULL, 0, VERSION_FLAG);
    return version < 0 ? -errno : (int)version;
}

// A kernel accepts a structure longer than its own if the rest is 0.
int clinux_landlock_create(uint64_t files, uint64_t network, uint64_t scopes) {
    struct ruleset ruleset = {.files = files, .network = network, .scopes = scopes};
    long descriptor = syscall(CREATE_RULESET, &ruleset, sizeof ruleset, 0);
    return descriptor < 0 ? -errno : (int)descriptor;
}

int clinux_landlock_allow(int ruleset, int directory, uint64_t access) {
    struct path_beneath rule = {.access = access, .directory = directory};
    return syscall(ADD_RULE, ruleset, PATH_BENEATH, &rule, 0) < 0 ? -errno : 0;
}

int clinux_landlock_restrict(int ruleset) {
    return syscall(RESTRICT_SELF, ruleset, 0) < 0 ? -errno : 0;
}

int clinux_no_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

#ifndef __has_feature
#define __has_feature(name) 0
#endif

bool clinux_has_sanitizer(void) {
    return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
}
