#include "CZimg.h"

#if defined(__x86_64__)
static int has_skx(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

static int has_pmc(void) {
    return has_skx() && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512ifma");
}

static int has_snc(void) {
    return has_pmc() && __builtin_cpu_supports("avx512vpopcntdq") &&
           __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("avx512vnni");
}

int czimg_has_code(czimg_code code) {
    switch (code) {
    case CZIMG_AVX:
        return __builtin_cpu_supports("avx") != 0;
    case CZIMG_F16C:
        return __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c");
    case CZIMG_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case CZIMG_AVX512_SKX:
        return has_skx();
    case CZIMG_AVX512_CLX:
        return has_skx() && __builtin_cpu_supports("avx512vnni");
    case CZIMG_AVX512_PMC:
        return has_pmc();
    case CZIMG_AVX512_SNC:
        return has_snc();
    default:
        return 1;
    }
}
#else
int czimg_has_code(czimg_code code) {
    return code == CZIMG_AUTOMATIC || code == CZIMG_PORTABLE;
}
#endif
