#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#define OPTIONS_MAX 192

int clinux_next_option(
    bool first, int count, char *const *arguments, const char *letters,
    const struct clinux_option *options, size_t option_count, struct clinux_option_hit *hit) {
    struct option table[OPTIONS_MAX + 1];
    if (option_count > OPTIONS_MAX) return -E2BIG;
    memset(table, 0, sizeof table);
    for (size_t i = 0; i < option_count; i++) {
        table[i].name = options[i].name;
        table[i].has_arg = options[i].takes_value ? required_argument : no_argument;
        table[i].val = options[i].code;
    }
    // 0 rather than 1 makes glibc reset its state and parse the start of `letters` again.
    if (first) optind = 0;
    opterr = 0;
    int code = getopt_long(count, arguments, letters, table, NULL);
    hit->code = code;
    hit->value = code == -1 ? NULL : optarg;
    hit->next = optind;
    return code == -1 ? 0 : 1;
}
