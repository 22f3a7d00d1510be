import Model
import ProcessRuntime
import Sandbox
import Testing

/// The accesses and limits in which the profiles of processes differ. A profile is a value, so the
/// kernel needs no support for sandboxes.
@Suite struct SandboxProfileTests {
    private static let paths = RuntimePaths(root: "/r")

    private static let drawing = SandboxProfile.decode(
        pool: .vector, paths: paths, arenaBytesMax: 1 << 20)

    /// Profiles of processes that don't draw, by name. A process that reads the arena of the
    /// drawing pool doesn't draw either.
    private static func others() throws -> [(name: String, profile: SandboxProfile)] {
        let pool = try #require(PoolName("photos"))
        return [
            ("decode", .decode(paths: paths, arenaBytesMax: 1 << 20)),
            (
                "photos",
                .decode(pool: pool, inputs: [.vector], paths: paths, arenaBytesMax: 1 << 20)
            ),
            (
                "transform",
                .transform(inputs: [.vector], paths: paths, arenaBytesMax: 1 << 20)
            ),
            ("gateway", .gateway(paths: paths, socket: "/r/web/s", files: [], connections: 9)),
        ]
    }

    /// Fonts are the only files outside of the stack's directories that a worker may read, and only
    /// drawings need them.
    @Test func onlyWorkersThatDrawReadFonts() throws {
        for directory in ["/etc/fonts", "/usr/share/fonts", "/var/cache/fontconfig"] {
            #expect(Self.drawing.fonts.contains(directory))
        }
        for (name, profile) in try Self.others() {
            #expect(profile.fonts == [], "\(name)")
        }
    }

    /// 512 MiB for drawings, 1,280 MiB for other decoders, and no limit for the rest.
    @Test func eachProfileHasItsLimitOfMemory() throws {
        #expect(Self.drawing.memoryBytesMax == 512 << 20)
        let limits = try Self.others().map { $0.profile.memoryBytesMax }
        let ofDecoders: UInt64 = 1_280 << 20
        #expect(limits == [ofDecoders, ofDecoders, nil, nil])
    }

    @Test func onlyAGatewayAcceptsConnections() throws {
        #expect(!Self.drawing.accepts)
        let accepting = try Self.others().filter { $0.profile.accepts }.map { $0.name }
        #expect(accepting == ["gateway"])
    }
}
