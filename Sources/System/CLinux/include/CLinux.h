// Calls that Swift can't express, or only unsafely. Every function that can fail returns a value >=
// 0 or -errno, so that nothing can run between the call and reading errno. Feature-test macros are
// only defined in the .c files: here they would change glibc's structures under Swift's own Glibc
// module.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: - atomics on shared mappings (8-byte aligned addresses)

static inline uint64_t clinux_load_acquire(const void *address) {
    return __atomic_load_n((const uint64_t *)address, __ATOMIC_ACQUIRE);
}
static inline uint64_t clinux_load_relaxed(const void *address) {
    return __atomic_load_n((const uint64_t *)address, __ATOMIC_RELAXED);
}
static inline void clinux_store_release(void *address, uint64_t value) {
    __atomic_store_n((uint64_t *)address, value, __ATOMIC_RELEASE);
}
static inline void clinux_store_relaxed(void *address, uint64_t value) {
    __atomic_store_n((uint64_t *)address, value, __ATOMIC_RELAXED);
}
static inline void clinux_fence_acquire(void) { __atomic_thread_fence(__ATOMIC_ACQUIRE); }
static inline void clinux_fence_release(void) { __atomic_thread_fence(__ATOMIC_RELEASE); }

// MARK: - files (file.c)

// Flags of open(2) whose values differ between architectures and that need _GNU_SOURCE.
extern const int clinux_o_directory;
extern const int clinux_o_nofollow;
extern const int clinux_o_path;

struct clinux_status {
    uint32_t mode;
    uint32_t uid;
    uint32_t gid;
    uint64_t size;
    uint64_t device;
    uint64_t inode;
    uint64_t links;
    int64_t modified_seconds;
    uint32_t modified_nanoseconds;
};

struct clinux_filesystem {
    bool temporary;
    uint64_t total_bytes;
    uint64_t available_bytes;
};

int clinux_openat(int directory, const char *path, int flags, uint32_t mode);
// openat2(2) for a path that can't escape the directory through links or "..".
int clinux_open_beneath(int directory, const char *path, int flags, bool follows_links);
int clinux_close(int descriptor);
int64_t clinux_read(int descriptor, void *buffer, size_t count);
int64_t clinux_write(int descriptor, const void *buffer, size_t count);
int64_t clinux_pread(int descriptor, void *buffer, size_t count, int64_t offset);
int64_t clinux_pwrite(int descriptor, const void *buffer, size_t count, int64_t offset);
int clinux_fstat(int descriptor, struct clinux_status *status);
int clinux_fstatat(int directory, const char *name, struct clinux_status *status);
int clinux_fstatfs(int descriptor, struct clinux_filesystem *status);
int clinux_flock(int descriptor, int operation);
int clinux_fallocate(int descriptor, int64_t offset, int64_t count);
int clinux_fsync(int descriptor);
int clinux_renameat(int source, const char *name, int target, const char *new_name);
int clinux_unlinkat(int directory, const char *name, bool is_directory);
int clinux_mkdirat(int directory, const char *name, uint32_t mode);
int clinux_fchmod(int descriptor, uint32_t mode);
int clinux_fchmodat(int directory, const char *name, uint32_t mode);
int clinux_fchown(int descriptor, uint32_t uid, uint32_t gid);
int clinux_duplicate(int descriptor, int lowest);
int clinux_pipe(int ends[2]);
int clinux_set_nonblocking(int descriptor);
int64_t clinux_readlink(const char *path, char *buffer, size_t count);
int64_t clinux_readlinkat(int directory, const char *name, char *buffer, size_t count);
int64_t clinux_getdents(int descriptor, void *buffer, size_t count);
int clinux_mkdtemp(char *pattern);

// MARK: - memory (memory.c)

int clinux_map(int descriptor, int64_t offset, size_t count, bool writable, void **address);
int clinux_unmap(void *address, size_t count);
int clinux_populate(void *address, size_t count, bool for_writing);
int64_t clinux_getrandom(void *buffer, size_t count);
int clinux_memory_file(const char *name);
int clinux_seal(int descriptor);

// MARK: - events, signals, processes (process.c)

struct clinux_signal {
    int32_t number;
    int32_t sender;
    uint32_t uid;
    int32_t status;
};

struct clinux_exit {
    bool exited;
    bool signalled;
    bool dumped;
    int32_t value;
};

struct clinux_credentials {
    int32_t pid;
    uint32_t uid;
    uint32_t gid;
};

/// Flushes stdout's buffer, unless another thread holds its lock.
void clinux_flush_output(void);
int clinux_poll(int descriptor, bool for_writing, int milliseconds);
int clinux_signals_block(const int32_t *signals, size_t count);
int clinux_signal_ignore(int signal);
int clinux_signalfd(const int32_t *signals, size_t count);
int clinux_signalfd_read(int descriptor, struct clinux_signal *signal);
int clinux_eventfd(void);
int clinux_timerfd(void);
int clinux_timerfd_set(int descriptor, uint64_t nanoseconds);
int clinux_pidfd_open(int pid);
int clinux_pidfd_signal(int descriptor, int signal);
int clinux_wait(int pid, bool blocking, struct clinux_exit *result);
/// Returns the process ID of a child that has ended but isn't reaped, without reaping it; 0 if
/// there is none.
int clinux_wait_peek(void);
int clinux_kill(int pid, int signal);
int clinux_parent_death_signal(int signal);
// Its value differs between architectures, and it's a macro of its own name.
extern const int clinux_rlimit_nproc;
int clinux_limit_get(int resource, uint64_t *soft, uint64_t *hard);
int clinux_limit_set(int resource, uint64_t soft, uint64_t hard);
// Makes malloc always map blocks of at least this size separately.
int clinux_map_blocks(size_t bytes);
int clinux_processor_count(void);
int clinux_peer(int descriptor, struct clinux_credentials *credentials);

// MARK: - Unix stream sockets that never block (socket.c)

int clinux_socket_listen(const char *path, uint32_t mode, int waiting_max);
int clinux_socket_accept(int descriptor);
int64_t clinux_socket_send(int descriptor, const void *buffer, size_t count);
int clinux_socket_connect(const char *path);
int clinux_tcp_listen(const char *address, uint16_t port, int waiting_max);
// Returns the port of a listening socket; 0 for a Unix socket.
int clinux_stream_port(int descriptor);
int clinux_socket_shutdown(int descriptor);

// MARK: - spawn (spawn.c)

/// The action for the child's descriptor `child`: a `parent` >= 0 is duplicated onto it, -1 opens
/// /dev/null, -2 leaves the descriptor of that number unchanged, -3 closes it.
struct clinux_descriptor {
    int32_t child;
    int32_t parent;
};

int clinux_spawn(
    int32_t *pid, const char *path, char *const *arguments, char *const *environment,
    const struct clinux_descriptor *descriptors, size_t descriptor_count, int close_from,
    const char *directory, bool new_group);

// MARK: - threads (thread.c)

int clinux_thread_start(
    uint64_t *thread, size_t stack_bytes, void *(*body)(void *), void *argument);
int clinux_thread_join(uint64_t thread);
int clinux_thread_detach(uint64_t thread);
void clinux_thread_name(const char *name);

// Sets the nice value of the calling thread, which threads it starts inherit. Returns 0 or -errno.
int clinux_thread_nice(int value);

// Returns how many threads of the process had called this before the calling thread first did.
size_t clinux_thread_ordinal(void);

// MARK: - faults (fault.c)

/// On the first fatal signal, `count` words are copied from `words` to `copies`, then the signal
/// number is stored in `signal`. The copies are 0 if the first word changed meanwhile. All
/// addresses must stay mapped.
struct clinux_fault_record {
    uint64_t *words;
    uint64_t *copies;
    size_t count;
    uint64_t *signal;
};

void clinux_fault_watch(const struct clinux_fault_record *where);
void clinux_fault_forget(void);
int clinux_fault_handle(const int32_t *signals, size_t count);
int clinux_fault_stack(void);

// MARK: - irrevocable restrictions (landlock.c)

/// Returns the kernel's Landlock version, at least 1.
int clinux_landlock_version(void);
int clinux_landlock_create(uint64_t files, uint64_t network, uint64_t scopes);
int clinux_landlock_allow(int ruleset, int directory, uint64_t access);
int clinux_landlock_restrict(int ruleset);
int clinux_no_new_privileges(void);
/// Whether this code was compiled with the address or the thread sanitizer.
bool clinux_has_sanitizer(void);

// MARK: - names (names.c)

const char *clinux_errno_name(int number);
const char *clinux_errno_description(int number);
const char *clinux_signal_name(int number);

// MARK: - command-line options (options.c)

struct clinux_option {
    const char *name;
    bool takes_value;
    int32_t code;
};

struct clinux_option_hit {
    int32_t code;
    int32_t next;
    const char *value;
};

// getopt_long, which <getopt.h> hides from Swift's Glibc. It keeps its state in global variables,
// so only one caller at a time is permitted. Returns 1 for an option, 0 at the end.
int clinux_next_option(
    bool first, int count, char *const *arguments, const char *letters,
    const struct clinux_option *options, size_t option_count, struct clinux_option_hit *hit);
