// What a compromised worker would try. Each attempt is one system call, or the shortest way to it,
// without any library between that could refuse it first.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Where and against whom. Paths are those of one stack; the victim is a process of the same user.
struct attempt_context {
    int32_t victim;
    /// A file in the worker's own arena that is there.
    const char *own_file;
    /// Names in the worker's own arena that are not there.
    const char *own_new;
    const char *own_other;
    /// A file in an arena that it reads, and a name that is not there.
    const char *input_file;
    const char *input_new;
    /// A file in an arena that it does not read, and a name that is not there.
    const char *foreign_file;
    const char *foreign_new;
    /// What operators show at their socket.
    const char *admin_secret;
};

struct attempt {
    const char *name;
    /// 0 where it is done, else the number as in `<errno.h>`.
    int (*attempt)(const struct attempt_context *context);
};

/// Everything that must be denied.
const struct attempt *attempts_first(void);
extern const size_t attempt_count;

/// 0, or why there is no connection to the Unix socket at `path`.
int attempt_connect(const char *path);

/// A child that waits for its end, and ends with its parent: the sandbox forbids to end it.
/// Negative where there is none.
int32_t attempt_start_victim(void);
