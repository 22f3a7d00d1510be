import Testing

/// Runs the tests. Without this file the package manager would search the compiler's index for
/// XCTest tests; writing that index takes a sixth of the build time, so it is disabled.
@main struct Tests {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
