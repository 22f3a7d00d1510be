import Linux

/// What the children of a supervisor find in their environment: of what is there only what is named
/// here. Whatever else libraries look for, such as `LD_PRELOAD`, `VIPS_CONCURRENCY` or a proxy,
/// would change what workers load, how much they take or whom they reach.
enum ChildEnvironment {
    /// Certificates of the machine, the directory of temporary files, language and time zone.
    private static let names: Set<String> = [
        "SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR", "LANG", "TZ",
    ]
    private static let prefixes = ["LC_"]
    /// Of programs that are built with a sanitizer: where it reports, and what it looks for.
    private static let ofSanitizers: Set<String> = [
        "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
    ]

    /// The part of `environment` that children get, and what they need besides.
    static func of(
        _ environment: [String: String], hasSanitizer: Bool = CurrentProcess.hasSanitizer
    ) -> [String: String] {
        var passed = environment.filter { name, _ in
            names.contains(name) || prefixes.contains { name.hasPrefix($0) }
                || (hasSanitizer && ofSanitizers.contains(name))
        }
        // glibc makes eight arenas a core otherwise, and memory creeps up.
        passed["MALLOC_ARENA_MAX"] = "2"
        // libimagequant, which makes palettes, takes every processor otherwise: the processes are
        // the parallelism. OpenMP reads it as it is loaded.
        passed["OMP_NUM_THREADS"] = "1"
        return passed
    }
}
