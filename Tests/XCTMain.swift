import Testing

/// Runs the tests. Without this file the package manager would look for tests of XCTest in the
/// index of the compiler, which takes a sixth of the time of the build and is not written.
@main struct Tests {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
