import Testing

@testable import Supervision

/// The environment that workers inherit from `serve`.
@Suite struct ChildEnvironmentTests {
    private let given = [
        "PATH": "/bin", "HOME": "/root", "LD_PRELOAD": "/tmp/a.so", "LD_LIBRARY_PATH": "/tmp",
        "VIPS_CONCURRENCY": "64", "G_SLICE": "debug", "https_proxy": "http://proxy",
        "GLIBC_TUNABLES": "a", "IMAGEBUS_CONFIG": "/etc/a", "ASAN_OPTIONS": "atexit=1",
        "SSL_CERT_FILE": "/etc/ca.pem", "SSL_CERT_DIR": "/etc/ca", "TMPDIR": "/var/tmp",
        "LANG": "de_CH.UTF-8", "LC_ALL": "C", "TZ": "UTC", "MALLOC_ARENA_MAX": "64",
        "OMP_NUM_THREADS": "64",
    ]

    @Test func onlyWhatIsListedIsPassedOn() {
        #expect(
            ChildEnvironment.of(given, hasSanitizer: false) == [
                "SSL_CERT_FILE": "/etc/ca.pem", "SSL_CERT_DIR": "/etc/ca", "TMPDIR": "/var/tmp",
                "LANG": "de_CH.UTF-8", "LC_ALL": "C", "TZ": "UTC", "MALLOC_ARENA_MAX": "2",
                "OMP_NUM_THREADS": "1",
            ])
    }

    @Test func programsWithASanitizerGetItsOptions() {
        let passed = ChildEnvironment.of(given, hasSanitizer: true)
        #expect(passed["ASAN_OPTIONS"] == "atexit=1")
        #expect(passed["LD_PRELOAD"] == nil)
    }
}
