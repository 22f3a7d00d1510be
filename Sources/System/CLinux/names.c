#define _GNU_SOURCE
#include "CLinux.h"

#include <string.h>

const char *clinux_errno_name(int number) { return strerrorname_np(number); }

const char *clinux_errno_description(int number) { return strerrordesc_np(number); }

const char *clinux_signal_name(int number) { return sigabbrev_np(number); }
