// Attacks that a compromised worker would try. Each attempt is one system call, or the shortest way
// to it, without a library in between that could refuse it first.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// The targets of the attempts. Paths are those of one stack; the victim is a process of the same
/// user.
struct attempt_context {
    int32_t victim;
    /// An existing file in the worker's own arena.
    const char *own_file;
    /// Unused names in the worker's own arena.
    const char *own_new;
    const char *own_other;
    /// An existing file in an arena that the worker may read, and an unused name.
    const char *input_file;
    const char *input_new;
    /// An existing file in an arena that the worker may not read, and an unused name.
    const char *foreign_file;
    const char *foreign_new;
    /// The secret that operators present at their socket.
    const char *admin_secret;
};

struct attempt {
    const char *name;
    /// Returns 0 on success, else an error number of `<errno.h>`.
    int (*attempt)(const struct attempt_context *context);
};

/// Everything that must be denied.
const struct attempt *attempts_first(void);
extern const size_t attempt_count;

/// Returns 0, or the error number if connecting to the Unix socket at `path` fails.
int attempt_connect(const char *path);

/// Starts a child that waits, and exits with its parent, as the sandbox forbids killing it. Returns
/// a negative error number on failure.
int32_t attempt_start_victim(void);
