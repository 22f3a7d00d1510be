// libseccomp for Swift: its actions and attributes are macros that Swift doesn't import. Each shim
// returns a value >= 0, or -errno.
#pragma once

#include <errno.h>
#include <seccomp.h>
#include <stdint.h>

/// Requires `argument & mask == value`.
struct cseccomp_condition {
    uint32_t argument;
    uint64_t mask;
    uint64_t value;
};

static inline uint32_t cseccomp_allow(void) { return SCMP_ACT_ALLOW; }
static inline uint32_t cseccomp_fail(uint16_t number) { return SCMP_ACT_ERRNO(number); }

// Calls of another architecture kill the process. The filter applies to all threads, returns the
// kernel's error numbers, and is a tree rather than a list, so that a call needs few comparisons.
static inline int cseccomp_prepare(scmp_filter_ctx filter) {
    int result = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (result == 0) result = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (result == 0) result = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (result == 0) result = seccomp_attr_set(filter, SCMP_FLTATR_API_SYSRAWRC, 1);
    return result;
}

// Skips calls that don't exist on this architecture.
static inline int cseccomp_add(
    scmp_filter_ctx filter, uint32_t action, const char *name,
    const struct cseccomp_condition *conditions, unsigned count) {
    struct scmp_arg_cmp compares[6];
    if (count > 6) return -EINVAL;
    int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) return -ENOENT;
    if (number < 0) return 0;
    for (unsigned i = 0; i < count; i++)
        compares[i] = (struct scmp_arg_cmp){
            .arg = conditions[i].argument, .op = SCMP_CMP_MASKED_EQ,
            .datum_a = conditions[i].mask, .datum_b = conditions[i].value};
    return seccomp_rule_add_array(filter, action, number, count, compares);
}
